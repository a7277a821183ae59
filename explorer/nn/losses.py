"""Where the loss falls. The vocabulary is looked at only where something is scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from explorer import tap
from explorer.errors import ChoiceError
from explorer.nn.elmo import BiLM
from explorer.nn.static import WordVectors
from explorer.nn.surprise import NOT_SCORED, surprise
from explorer.nn.transformer import Transformer

Tensors = Mapping[str, Tensor]  # source, real, segments, answers, scored, and one label for each name
Losses = dict[str, Tensor]
Objective = Callable[[Any, Tensors, float], Losses]  # of a Transformer, or of what else there is to train
TOLD_HEAD = 0  # the head of the last layer that "mlm+antecedent" tells where to look
ROUND = 64  # rows are scored in round numbers, since a processor prepares a product anew for every shape that it has not met
REPLACED_WEIGHT = 50.0  # ELECTRA's λ
MUCH = 100.0  # GloVe: pairs that stand near each other so often, or more, count fully
TEMPERATURE = 2.0
WEIGHTS = {"soft": 5 / 8, "hard": 2 / 8, "cosine": 1 / 8}  # 5 : 2 : 1, as DistilBERT was released


def scored_loss(module: Transformer, hidden: Tensor, batch: Tensors, smoothing: float) -> Tensor:
    """The mean cross-entropy of the right pieces, where they are scored."""
    where = places(batch)
    return missed(module.head(states_at(hidden, where)), batch, where, smoothing)


def missed(scores: Tensor, batch: Tensors, where: Tensor, smoothing: float) -> Tensor:
    """The mean cross-entropy of the right pieces at these places; scores of places that fill up to a round number do not count."""
    answers = functional.pad(batch["answers"].flatten()[where], (0, len(scores) - len(where)), value=NOT_SCORED)
    return surprise(scores, answers, smoothing)


def places(batch: Tensors) -> Tensor:
    """The numbers of the places that are scored, counted through all rows."""
    return batch["where"] if "where" in batch else batch["scored"].flatten().nonzero()[:, 0]


def states_at(hidden: Tensor, where: Tensor) -> Tensor:
    """The states at these places, and some more up to a round number: [scored and some more, dim]."""
    return hidden.flatten(0, 1).index_select(0, rounded(where))


def rounded(where: Tensor) -> Tensor:
    """These places, and the first of all again and again up to a round number."""
    return functional.pad(where, (0, -len(where) % ROUND))


def causal(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """Every piece is predicted from the pieces before it."""
    hidden = module(batch["source"], None, batch["real"])
    return {"lm": scored_loss(module, hidden, batch, smoothing)}


def masked(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The hidden pieces; in a model that has learned pairs, also whether B follows A (class 0: it does)."""
    hidden = module(batch["source"], batch["segments"] if module.config.segments else None, batch["real"])
    losses = {"mlm": scored_loss(module, hidden, batch, smoothing)}
    if "nsp" in batch and module.next_sentence is not None:
        losses["nsp"] = functional.cross_entropy(module.next_sentence(hidden), batch["nsp"])
    return losses


def masked_and_meant(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The hidden pieces; and one head is *told* where to look: from every pronoun at the words that mean the same.

    The second loss is the mean −log of the weight that the first head of the last layer gives them. So what this head shows
    was taught with gold labels; it did not appear by itself.
    """
    weights: list[Tensor] = []
    last = module.config.layers - 1

    def hear(place: str, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == "attention" and layer == last:
            weights.append(values["weights"][:, TOLD_HEAD])  # [batch, query, key]

    with tap.listening(hear):
        losses = masked(module, batch, smoothing)
    meant = batch["meant"]
    given = weights[0][:, : meant.shape[1], : meant.shape[2]].float()  # a batch may be filled up further than its labels
    share = (given * meant).sum(-1)[meant.any(-1)]  # [pronoun]
    losses["antecedent"] = -share.clamp_min(1e-6).log().mean() if len(share) else weights[0].sum() * 0
    return losses


def masked_and_bounded(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The hidden pieces twice: from their own last states, and from the last states at the two boundaries of their span.

    Both are means over the same pieces, and both are summed, as in SpanBERT.
    """
    if module.span_boundary is None:
        raise ChoiceError(
            "'mlm+sbo' needs a model with a head for span boundaries. Train spanbert, or build with span_boundary=True."
        )
    hidden = module(batch["source"], batch["segments"] if module.config.segments else None, batch["real"])
    where = places(batch)
    scores = module.span_boundary(hidden, batch["scored"], rounded(where), module.embeddings.tokens.weight)
    return {"mlm": scored_loss(module, hidden, batch, smoothing), "sbo": missed(scores, batch, where, smoothing)}


def replaced(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """ELECTRA: a generator learns to fill the masks; the other model reads what it filled in, and says of *every* piece if it is new.

    The generator is not rewarded for fooling anyone: no gradient goes through its draws. A draw that happens to be the
    original counts as original. "mlm" is the mean over the masks, "rtd" that over all pieces that are real; it is reported with its
    weight of 50, so that the losses add up to what is trained.
    """
    generator, finds = module.generator, module.replaced
    assert generator is not None and finds is not None, "checked before the run"
    segments, real = batch["segments"] if module.config.segments else None, batch["real"]
    where = places(batch)
    scores = generator.head(states_at(generator(batch["source"], segments, real), where))
    mlm = missed(scores, batch, where, smoothing)
    lots = functional.pad(batch["rtd"], (0, real.shape[1] - batch["rtd"].shape[1])).flatten()[where]
    filled = batch["source"].flatten().scatter(0, where, drawn(scores[: len(where)], lots)).view_as(real)
    doubt = finds(module(filled, segments, real))  # [batch, position]
    doubt = doubt.to(torch.promote_types(doubt.dtype, torch.float32))
    new = (filled != batch["answers"]).to(doubt.dtype)
    each = functional.binary_cross_entropy_with_logits(doubt, new, reduction="none") * real
    return {"mlm": mlm, "rtd": REPLACED_WEIGHT * each.sum() / real.sum()}


@torch.no_grad()
def drawn(scores: Tensor, lots: Tensor) -> Tensor:
    """A piece for every row of scores, each as likely as the softmax says: the one in whose share of [0, 1) the row's lot falls."""
    below = scores.float().softmax(-1).cumsum(-1) <= lots.float()[:, None]
    return below.sum(-1).clamp(max=scores.shape[-1] - 1)


def distilled(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """A student copies its teacher, who has read the same batch: three losses, each times its weight, so that they add up.

    Soft: T² · KL(p ‖ q), p = softmax(teacher's scores / T), q = softmax(student's scores / T), at the hidden pieces; T = 2 makes
    both flatter, and T² keeps the gradients as large as they were. Hard: the hidden pieces themselves. Cosine: one minus the
    cosine between the last hidden states of both, at every place of the text.
    """
    hidden, where = module(batch["source"], None, batch["real"]), places(batch)
    said = module.head(states_at(hidden, where))[: len(where)].float()  # [scored, vocab]
    taught = batch["teacher's scores"][: len(where)].float()
    one, other = ((scores / TEMPERATURE).log_softmax(-1) for scores in (said, taught))
    turned = 1 - functional.cosine_similarity(hidden.float(), batch["teacher's states"].float(), dim=-1)  # [batch, position]
    parts = {
        "soft": TEMPERATURE**2 * functional.kl_div(one, other, reduction="batchmean", log_target=True),
        "hard": missed(said, batch, where, smoothing),
        "cosine": turned[batch["real"]].mean(),
    }
    return {name: WEIGHTS[name] * loss for name, loss in parts.items()}


def rewritten(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The target, piece by piece, from the source and the target so far (teacher forcing: the right pieces, shifted)."""
    answers = batch["answers"]
    start = torch.full_like(answers[:, :1], module.config.start)
    read = torch.cat((start, answers[:, :-1]), dim=1)
    memory = module.encode(batch["source"], batch["real"])
    hidden = module.decode(memory, read, batch["real"])
    return {"lm": scored_loss(module, hidden, batch, smoothing)}


def both_ways(module: BiLM, batch: Tensors, smoothing: float) -> Losses:
    """ELMo: each word from those before it and, by itself, from those after it; both means are over the same borders of words.

    `scored` is every real place but the first: there the state before it foresees its word, and its own state tells the word before.
    """
    wide = batch["source"].shape[1]
    letters = functional.pad(batch["letters"], (0, 0, 0, wide - batch["letters"].shape[1]))
    states, where = module(letters, batch["real"]), places(batch)
    ids, last = batch["source"].flatten(), {"forward": where - 1, "backward": where}
    asked = {"forward": where, "backward": where - 1}
    tops = {"forward": states.forward[-1], "backward": states.backward[-1]}
    return {
        name: surprise(module.head(top.flatten(0, 1)[last[name]]), ids[asked[name]], smoothing) for name, top in tops.items()
    }


def skip_gram(module: WordVectors, batch: Tensors, smoothing: float) -> Losses:
    """word2vec: −log σ(w·c) for a word c that stood near w, and −log σ(−w·c′) for each of five that were drawn by chance.

    Both are sums over the words of a pair and means over the pairs.
    """
    middle, near, others = batch["source"], batch["answers"], batch["strangers"]  # [pair, 1], [pair, 1], [pair, 5]
    beside = torch.cat((near, others), dim=1)  # [pair, 6]
    sign = torch.tensor([-1.0] + [1.0] * others.shape[1], device=beside.device)
    means = functional.softplus(sign * module.closeness(middle, beside)).mean(0)
    return {"near": means[0], "strangers": means[1:].sum()}


def co_occurrence(module: WordVectors, batch: Tensors, smoothing: float) -> Losses:
    """GloVe: the mean of f(X) (w·w̃ + b + b̃ − log X)², where f(X) = (X / 100)^¾, at most 1, keeps rare pairs from counting as much."""
    counts = batch["counts"].float()
    missed = module.closeness(batch["source"], batch["answers"]) - counts.log()
    return {"fit": ((counts / MUCH).clamp(max=1) ** 0.75 * missed**2).mean()}


def strategy_of(objective: str) -> str:
    """The strategy that damages texts for an objective, where no other is chosen; one that damages nothing goes by its own name."""
    return STRATEGY.get(objective, objective)


STRATEGY = {
    "mlm": "mlm",
    "mlm+nsp": "mlm",
    "mlm+antecedent": "mlm",
    "mlm+sbo": "spanbert",
    "replaced": "electra",
    "distillation": "mlm",
    "denoising": "bart",
    "span-to-text": "t5",
    "gap-sentence": "pegasus",
}
OBJECTIVES: dict[str, Objective] = {
    "causal": causal,
    "mlm": masked,
    "mlm+nsp": masked,
    "mlm+antecedent": masked_and_meant,
    "mlm+sbo": masked_and_bounded,
    "replaced": replaced,
    "distillation": distilled,
    "denoising": rewritten,
    "span-to-text": rewritten,
    "gap-sentence": rewritten,
    "translation": rewritten,
    "bilm": both_ways,
    "skip-gram": skip_gram,
    "co-occurrence": co_occurrence,
}
