"""Three families: what to guess about masks, and exercises on what a model is built of."""

from __future__ import annotations

import math

import numpy as np

from explorer.app.lessons import SENTENCE
from explorer.records import Block, Blueprint, Curves, Exercise, Exposure, HeldLosses, Trace, UnderMasks
from explorer.records.exercise import added
from explorer.records.families import CAUSAL, FULL, MASKS, OWN

TEXT = SENTENCE
NOTATION = (
    "$U$ is the text as one-hot rows $[n, |V|]$, so $UW_e$ picks rows of the table $W_e$ $[|V|, d]$; $W_p$ holds a vector for each "
    "position. $h_i$ are the states after block $i$, $[n, d]$. $L$ is the number of blocks here; in the decks it is also a length and a "
    "loss."
)
DECK = (
    ("L1, the Transformer encoder", "*the only difference is that we remove the masking*", "then the training objective must change too: "
     "without the mask the next token is visible, and the model learns to copy it"),
    ("L2, Transformers", "attends to elements *up to that point*", "that is the causal kind; the same deck lifts the mask later"),
    ("L0, encoder–decoder", "a point in latent space, the *encoder vector*", "one vector for each source word; a single point is an RNN's"),
    ("L1, cross-attention", "$h_1…h_n$ and $z_1…z_n$", "two lengths: source and target may differ in length"),
    ("L0, encoder", "*all layers and sublayers are 512-dimensional*", "their outputs are; inside, the feed-forward layer has 2,048"),
    ("L4, GPT", "*12 blocks (37 layers)*", "12 blocks; it depends on what is counted as a layer"),
    ("L4, GPT", "$W_e^\\top$ *reverses the embedding*", "it takes the dot product with every token embedding; nothing is inverted"),
    ("L4, GPT", "*masked self-attention only*", "so no cross-attention, unlike the decoder of L0 and L1"),
    ("L2, BERT", "*100M* parameters on one slide, *110M* on another", "109,482,240 with the pooler; 110,106,428 with both output layers"),
    ("L2, additional details", "cost is *quadratic in length*", "only the products of q and k, and of weights and v; "
     "at 512 tokens a small part"),
    ("L1, layer norm", "*unit mean*, one γ", "mean 0 and deviation 1 over the dimensions of one token; a γ and a β for each dimension"),
)  # fmt: skip
FORWARD = "feed-forward"
FALLS, LITTLE, STAYS, RISES = "it falls to almost nothing", "it falls a little", "it stays about the same", "it rises"
OPTIONS = (FALLS, LITTLE, STAYS, RISES)


def fate(before: float, after: float) -> str:
    """What a loss did, in one of four phrases."""
    if after > 1.05 * before:
        return RISES
    return STAYS if after > 0.95 * before else FALLS if after < 0.1 * before else LITTLE


def other(family: str) -> str:
    """The mask that a model of this family was not trained under."""
    return CAUSAL if family == "encoder" else FULL


def mask_question(measured: HeldLosses) -> Exercise:
    """What the loss of trained weights does under the other mask."""
    new = other(measured.family)
    means = measured.means()
    before, after = (means[MASKS.index(name)] for name in (OWN, new))
    asked = {
        FULL: f"{measured.model} was trained to predict the next token from those before it. We keep its weights and **remove the mask**: "
        f"every row sees the whole text, its label too. What happens to its loss on {before.size} new stories?",
        CAUSAL: f"{measured.model} was trained to predict masked tokens from both sides. We keep its weights and use a **causal mask**. "
        f"What happens to its loss on {before.size} new stories?",
    }[new]
    why = (
        f"From {before.mean():.2f} to {after.mean():.2f} nats per token: it rises in {int((after > before).sum())} of {before.size} "
        f"stories. Uniform guessing costs ln {measured.vocabulary:,} = {np.log(measured.vocabulary):.2f}. A mask cannot just be "
        "switched: these weights never saw such mixtures in training."
    )
    return Exercise(asked, fate(float(before.mean()), float(after.mean())), why, OPTIONS)


def ends(measured: Curves) -> dict[str, float]:
    """The last value of every line."""
    return {line.label: float(line.y[-1]) for line in measured.lines}


def line(measured: Curves, way: str, read: str) -> float:
    """Where the line of models that were trained in one way and are read in another ends."""
    return next(value for name, value in ends(measured).items() if name == f"{way}, {read}")


def copy_question(measured: Curves, vocabulary: int) -> Exercise:
    """The loss of a model that was trained without its mask."""
    seen = line(measured, "trained without it", "read without it")
    plain = line(measured, "trained with the mask", "read with the mask")
    noise = line(measured, "trained without it", "random tokens, read without it")
    asked = (
        f"Now we **train** a small decoder without the mask, on the same stories, for {measured.lines[0].x[-1]:.0f} steps. The same model "
        f"with the mask reaches {plain:.2f} nats. What loss does it reach without the mask?"
    )
    options = ("almost nothing", "a little less than with it", "about the same", "more than with it")
    answer = options[OPTIONS.index(fate(plain, seen))]
    why = (
        f"{seen:.3f} nats. The label of row $i$ is in its input, one position later, and nothing hides it. Uniform random tokens cannot be "
        f"predicted: without copying the loss is at least ln {vocabulary:,} = {np.log(vocabulary):.2f}, but here it is {noise:.2f}. The "
        "model has learned to copy."
    )
    return Exercise(asked, answer, why, options)


def writing_question(measured: Curves) -> Exercise:
    """How the model without a mask does when no later tokens can be seen."""
    alone = line(measured, "trained without it", "read with the mask")
    plain = line(measured, "trained with the mask", "read with the mask")
    options = ("it writes better", "it writes as well", "it writes worse")
    place = 0 if alone < 0.95 * plain else 1 if alone <= 1.05 * plain else 2
    asked = "When a model generates, the next token does not exist yet. How does the model that was trained without the mask do then?"
    why = f"Its loss is {alone:.2f} nats when it sees no later tokens; the model trained with the mask has {plain:.2f}."
    return Exercise(asked, options[place], why, options)


def exposure_question(measured: Exposure) -> Exercise:
    """What one wrong token does to the probability of the right token after it."""
    before, after = float(measured.taught[:, 0].mean()), float(measured.wrong[:, 0].mean())
    options = ("it stays about the same", "it falls by less than half", "it falls by half or more")
    place = 0 if after > 0.95 * before else 1 if after > before / 2 else 2
    gaps = (measured.taught - measured.wrong).mean(0)
    late = f"{len(gaps)} tokens later it is {measured.wrong[:, -1].mean():.2f} against {measured.taught[:, -1].mean():.2f}"
    asked = (
        f"{measured.model} reads {len(measured.taught)} new texts, and at one position we force the most probable **wrong** token. With "
        f"a correct history the model gives the next correct token {before:.2f}. What is it right after one wrong token?"
    )
    why = (
        f"{after:.2f} right after the wrong token; {late} if all later tokens are the gold ones again, and "
        f"{measured.free[:, -1].mean():.2f} if it continues freely. In training it never read its own mistakes."
    )
    return Exercise(asked, options[place], why, options)


def doubling_question(record: Blueprint) -> Exercise | None:
    """What becomes of the feed-forward layers when the width doubles; None for a model without them."""
    shapes = next(([shape for _, shape in part.weights] for part in record.parts if part.name == FORWARD), None)
    if shapes is None:
        return None
    kinds = {
        "token embeddings": ("token embeddings",),
        "attention": ("attention", "cross-attention"),
        "feed-forward": (FORWARD,),
    }
    held = {kind: sum(part.counted for part in record.parts if part.name in names) for kind, names in kinds.items()}
    counts = ", ".join(f"{kind} {count:,} ({count / record.total:.0%})" for kind, count in held.items())
    before, after = (sum(math.prod(times * n for n in shape) for shape in shapes) for times in (1, 2))
    options = ("twice as many", "four times as many", "eight times as many")
    asked = (
        f"The feed-forward layers of {record.model} hold {held[FORWARD]:,} of its {record.total:,} parameters. We double the width $d$, "
        "and the inner width of these layers with it. About how many parameters do they hold then?"
    )
    why = (
        f"{after:,} instead of {before:,} in each layer: both sides of each matrix double. The token embeddings only double, since the "
        f"vocabulary stays; so in larger models they are a smaller part. Now: {counts}."
    )
    return Exercise(asked, options[round(math.log2(after / before)) - 1], why, options)


def exercises(masks: UnderMasks, built: Blueprint, trace: Trace | None, half: float) -> tuple[Exercise, ...]:
    """Questions about the masks of one text, what the model is built of, one of its norms, and what a layer costs."""
    rows, columns = (len(tokens) for tokens in masks.traces[OWN].axes(masks.stream))
    causal = masks.traces[CAUSAL].attention[0].allowed
    own = masks.losses[MASKS.index(OWN)]
    made = [
        Exercise(
            f"{rows} rows attend to {columns} columns. How many cells does a causal mask allow?",
            float(causal.sum()),
            f"{rows} · ({rows} + 1) / 2: each row sees itself and all before it.",
            digits=0,
        ),
        Exercise(
            f"The mean loss of this text under the model's own mask is {own.mean():.4f} nats. What is its perplexity?",
            float(np.exp(own.mean())),
            f"exp({own.mean():.4f}): e to the mean loss.",
        ),
        _attention_count(built),
    ]
    if trace is not None and trace.blocks:
        made.append(_norm(trace.blocks[-1]))
    made.append(
        Exercise(
            "At which length do the pairs of tokens cost one layer as many multiply-adds as everything else in it?", half,
            "Where 2n²d equals what grows with n alone; with four square matrices and a feed-forward layer of dimension 4d: 6d.", digits=0,
        )
    )  # fmt: skip
    return tuple(made)


def _attention_count(built: Blueprint) -> Exercise:
    """The parameters of one attention."""
    part = next(part for part in built.parts if part.name == "attention")
    shapes = ", ".join(f"{name} {' × '.join(map(str, shape))}" for name, shape in part.weights)
    return Exercise(
        f"One attention of the {part.stream} holds: {shapes}. How many parameters are these?", part.counted / part.times,
        f"All {part.times} layers: {part.written} = {part.expected:,}.", digits=0,
    )  # fmt: skip


def _norm(block: Block) -> Exercise:
    """One dimension of one token through a norm."""
    x, mean, deviation = (
        float(values[at]) for values, at in ((block.norm_input, (0, 0)), (block.mean, 0), (block.deviation, 0))
    )
    gain, shift = float(block.gain[0]), float(block.shift[0])
    return Exercise(
        f"Dimension 0 of the first token is {x:.3f} before the last norm; μ = {mean:.3f}, σ = {deviation:.3f}, γ = {gain:.3f}, "
        f"β = {shift:.3f}. What is the result?", float(block.normed[0, 0]),
        f"({x:.3f} {added(-mean)}) / {deviation:.3f} · {gain:.3f} {added(shift)}.",
    )  # fmt: skip
