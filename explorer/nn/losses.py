"""The losses of the training objectives. Scores over the vocabulary are computed only at predicted positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from explorer.corruption.collate import IGNORE_INDEX
from explorer.errors import ChoiceError
from explorer.nn import tap
from explorer.nn.cross_entropy import cross_entropy
from explorer.nn.elmo import BiLM
from explorer.nn.static import WordVectors
from explorer.nn.transformer import Transformer
from explorer.records import TapPlace

Tensors = Mapping[str, Tensor]  # source, attention_mask, segments, labels, loss_mask, loss_positions, and extras by name
Losses = dict[str, Tensor]
Loss = Callable[[Any, Tensors, float], Losses]  # of a Transformer, or of what else there is to train
SUPERVISED_HEAD = 0  # the head of the last layer that `mlm_coref` teaches where to look
UNPADDED = "unpadded"  # a batch that says so has no padding
ROUND = 64  # rows are scored in round numbers, since a processor prepares a product again for every new shape
REPLACED_WEIGHT = 50.0  # ELECTRA's λ
RARE_POWER = 0.75  # GloVe: below that, a pair counts by its share of it to this power
COUNTED_FULLY = 100.0  # GloVe: pairs that stand near each other so often, or more, count fully
TEMPERATURE = 2.0
WEIGHTS = {"soft": 5 / 8, "hard": 2 / 8, "cosine": 1 / 8}  # 5 : 2 : 1, as DistilBERT was released


def padding_mask(batch: Tensors) -> Tensor | None:
    """Which positions are no padding [row, position]; None where it is known that there is none."""
    return None if UNPADDED in batch else batch["attention_mask"]


def loss_where_scored(module: Transformer, hidden: Tensor, batch: Tensors, smoothing: float) -> Tensor:
    """The mean cross-entropy of the right tokens, where they count."""
    positions = loss_positions(batch)
    return masked_cross_entropy(module.head(states_at(hidden, positions)), batch, positions, smoothing)


def masked_cross_entropy(scores: Tensor, batch: Tensors, positions: Tensor, smoothing: float) -> Tensor:
    """The mean cross-entropy of the right tokens at these positions; scores of rows that fill up to a round number do not count."""
    labels = functional.pad(batch["labels"].flatten()[positions], (0, len(scores) - len(positions)), value=IGNORE_INDEX)
    return cross_entropy(scores, labels, smoothing)


def loss_positions(batch: Tensors) -> Tensor:
    """The numbers of the positions that count, counted through all rows."""
    return batch["loss_positions"] if "loss_positions" in batch else batch["loss_mask"].flatten().nonzero()[:, 0]


def states_at(hidden: Tensor, positions: Tensor) -> Tensor:
    """The states at these positions, and some more up to a round number: [position and some more, dim]."""
    return hidden.flatten(0, 1).index_select(0, rounded(positions))


def rounded(positions: Tensor) -> Tensor:
    """These positions, and the first of all again and again up to a round number."""
    return functional.pad(positions, (0, -len(positions) % ROUND))


def causal_loss(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """Every token is predicted from the tokens before it."""
    hidden = module(batch["source"], None, padding_mask(batch))
    return {"lm": loss_where_scored(module, hidden, batch, smoothing)}


def mlm_loss(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """Masked language modelling; in a model for pairs, also next sentence prediction: whether B follows A (class 0: it does)."""
    hidden = module(batch["source"], batch["segments"] if module.config.segments else None, padding_mask(batch))
    losses = {"mlm": loss_where_scored(module, hidden, batch, smoothing)}
    if "nsp" in batch and module.next_sentence is not None:
        pairs = (batch["nsp"] >= 0).sum().clamp(min=1)  # texts that are too short for a pair are not asked
        losses["nsp"] = functional.cross_entropy(module.next_sentence(hidden), batch["nsp"], reduction="sum") / pairs
    return losses


def mlm_coref_loss(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """Masked language modelling; and one attention head is *supervised*: from every pronoun to its antecedents.

    The second loss is the mean −log of the weight that the first head of the last layer gives them. So the pattern of this head was
    trained with gold labels; it did not emerge from the text alone.
    """
    weights: list[Tensor] = []
    last = module.config.layers - 1

    def hear(place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.ATTENTION and layer == last:
            weights.append(values["weights"][:, SUPERVISED_HEAD])  # [batch, query, key]

    with tap.listening(hear):
        losses = mlm_loss(module, batch, smoothing)
    gold = batch["antecedent"]
    given = weights[0][:, : gold.shape[1], : gold.shape[2]].float()  # a batch may be padded further than its gold labels
    share = (given * gold).sum(-1)[gold.any(-1)]  # [pronoun]
    losses["antecedent"] = -share.clamp_min(1e-6).log().mean() if len(share) else weights[0].sum() * 0
    return losses


def mlm_sbo_loss(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The hidden tokens twice: from their own last hidden states (MLM), and from those at the two boundaries of their span (SBO).

    Both are means over the same tokens, and both are summed, as in SpanBERT.
    """
    if module.span_boundary is None:
        raise ChoiceError(
            "'mlm+sbo' needs a model with an output layer for span boundaries. Train spanbert, or build with span_boundary=True."
        )
    hidden = module(batch["source"], batch["segments"] if module.config.segments else None, padding_mask(batch))
    positions = loss_positions(batch)
    scores = module.span_boundary(hidden, batch["loss_mask"], rounded(positions), module.embeddings.tokens.weight)
    return {
        "mlm": loss_where_scored(module, hidden, batch, smoothing),
        "sbo": masked_cross_entropy(scores, batch, positions, smoothing),
    }


def replaced_token_detection(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """ELECTRA: a generator learns to fill the masks; the discriminator reads the result, and predicts of *every* token whether it was
    replaced.

    The generator is not rewarded for fooling anyone: no gradient goes through its draws. A draw that happens to be the
    original counts as original. Where the batch has a random token for a mask, it takes the place of the generator's. "mlm" is the mean
    over the masks, "rtd" that over all tokens but padding; it is reported with its weight of 50, so that the losses add up to what is
    trained.
    """
    generator, finds = module.generator, module.replaced
    assert generator is not None and finds is not None, "checked before the run"
    segments, mask = batch["segments"] if module.config.segments else None, batch["attention_mask"]
    positions = loss_positions(batch)
    scores = generator.head(states_at(generator(batch["source"], segments, padding_mask(batch)), positions))
    mlm_loss = masked_cross_entropy(scores, batch, positions, smoothing)
    wider = (0, mask.shape[1] - batch["rtd"].shape[1])
    drawn = sample_tokens(scores[: len(positions)], functional.pad(batch["rtd"], wider).flatten()[positions])
    if "random" in batch:
        random = functional.pad(batch["random"], wider, value=-1).flatten()[positions]
        drawn = drawn.where(random < 0, random)
    filled = batch["source"].flatten().scatter(0, positions, drawn).view_as(mask)
    doubt = finds(module(filled, segments, padding_mask(batch)))  # [batch, position]
    doubt = doubt.to(torch.promote_types(doubt.dtype, torch.float32))
    new = (filled != batch["labels"]).to(doubt.dtype)
    each = functional.binary_cross_entropy_with_logits(doubt, new, reduction="none") * mask
    return {"mlm": mlm_loss, "rtd": REPLACED_WEIGHT * each.sum() / mask.sum()}


@torch.no_grad()
def sample_tokens(scores: Tensor, uniforms: Tensor) -> Tensor:
    """A token for every row of scores, sampled from the softmax by inverse transform sampling with one number in [0, 1) a row."""
    shares = scores.float().softmax(-1)
    if scores.is_cuda and torch.are_deterministic_algorithms_enabled():  # a GPU adds them up in no fixed order
        shares = shares.cpu().cumsum(-1).to(scores.device)
    else:
        shares = shares.cumsum(-1)
    below = shares <= uniforms.float()[:, None]
    return below.sum(-1).clamp(max=scores.shape[-1] - 1)


def distillation_loss(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """A student learns from its teacher, which has read the same batch: three losses, each times its weight, so that they add up.

    Soft: T² · KL(p ‖ q), p = softmax(teacher's scores / T), q = softmax(student's scores / T), at the hidden tokens; T = 2 makes both
    flatter, and T² keeps the gradients as large as they were. Hard: the hidden tokens themselves. Cosine: one minus the cosine
    between the last hidden states of both, at every position of the text.
    """
    hidden, positions = module(batch["source"], None, padding_mask(batch)), loss_positions(batch)
    scores = module.head(states_at(hidden, positions))[: len(positions)].float()  # [position that counts, vocab]
    target = batch["teacher's scores"][: len(positions)].float()
    student, teacher = ((each / TEMPERATURE).log_softmax(-1) for each in (scores, target))
    turned = 1 - functional.cosine_similarity(hidden.float(), batch["teacher's states"].float(), dim=-1)  # [batch, position]
    mask = batch["attention_mask"]
    parts = {
        "soft": TEMPERATURE**2 * functional.kl_div(student, teacher, reduction="batchmean", log_target=True),
        "hard": masked_cross_entropy(scores, batch, positions, smoothing),
        "cosine": (turned * mask).sum() / mask.sum() if turned.is_cuda else turned[mask].mean(),  # a GPU would be waited for
    }
    return {name: WEIGHTS[name] * loss for name, loss in parts.items()}


def shifted_right(target: Tensor, start: int) -> Tensor:
    """What a decoder reads to write a target: the start token, then all tokens but the last."""
    return torch.cat((torch.full_like(target[:, :1], start), target[:, :-1]), dim=1)


def seq2seq_loss(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The target, token by token, from the source and the target so far (teacher forcing: the right tokens, shifted)."""
    read = shifted_right(batch["labels"], module.config.start)
    memory = module.encode(batch["source"], padding_mask(batch))
    hidden = module.decode(memory, read, padding_mask(batch))
    return {"lm": loss_where_scored(module, hidden, batch, smoothing)}


def bilm_loss(module: BiLM, batch: Tensors, smoothing: float) -> Losses:
    """ELMo: each word from those before it and, separately, from those after it; both means are over the same pairs of neighbours.

    Every position but the first and the padding counts: the state before it predicts its word, and its own state the word before.
    """
    wide = batch["source"].shape[1]
    letters = functional.pad(batch["letters"], (0, 0, 0, wide - batch["letters"].shape[1]))
    states, at = module(letters, padding_mask(batch)), loss_positions(batch)
    onward, back, ids = states.forward[-1].flatten(0, 1), states.backward[-1].flatten(0, 1), batch["source"].flatten()
    return {
        "forward": cross_entropy(module.head(onward[at - 1]), ids[at], smoothing),
        "backward": cross_entropy(module.head(back[at]), ids[at - 1], smoothing),
    }


def skipgram_loss(module: WordVectors, batch: Tensors, smoothing: float) -> Losses:
    """word2vec: −log σ(w·c) for a word c that stood near w, and −log σ(−w·c′) for each of five that were drawn by chance.

    Both are sums over the words of a pair and means over the pairs.
    """
    middle, near, negatives = batch["source"], batch["labels"], batch["negatives"]  # [pair, 1], [pair, 1], [pair, 5]
    beside = torch.cat((near, negatives), dim=1)  # [pair, 6]
    sign = torch.ones(beside.shape[1], device=beside.device)
    sign[0] = -1
    means = functional.softplus(sign * module.closeness(middle, beside)).mean(0)
    return {"near": means[0], "strangers": means[1:].sum()}


def cooccurrence_loss(module: WordVectors, batch: Tensors, smoothing: float) -> Losses:
    """GloVe: the mean of f(X) (w·w̃ + b + b̃ − log X)², where f(X) = (X / 100)^¾, at most 1, keeps rare pairs from counting as much."""
    counts = batch["counts"].float()
    gap = module.closeness(batch["source"], batch["labels"]) - counts.log()
    return {"fit": ((counts / COUNTED_FULLY).clamp(max=1) ** RARE_POWER * gap**2).mean()}
