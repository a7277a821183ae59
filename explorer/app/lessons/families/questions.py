"""Three families: what to guess about masks, and exercises on what a model is built of."""

from __future__ import annotations

import numpy as np

from explorer.records import Block, Blueprint, Curves, Exercise, Exposure, HeldLosses, Trace, UnderMasks
from explorer.records.families import CAUSAL, FULL, MASKS, OWN

NOTATION = (
    "$U$ is the text as one-hot rows $[n, |V|]$, so $UW_e$ picks rows of the table $W_e$ $[|V|, d]$; $W_p$ holds a vector for each place. "
    "$h_i$ are the states after block $i$, $[n, d]$. $L$ is the number of blocks here; in the decks it is also a length and a loss."
)
DECK = (
    ("L1, the Transformer encoder", "*the only difference is that we remove the masking*", "then the objective must change too: without "
     "the mask the next word stands in plain sight, and the model learns to copy it"),
    ("L2, Transformers", "attends to elements *up to that point*", "that is the causal kind; the same deck lifts the mask later"),
    ("L0, encoder–decoder", "a point in latent space, the *encoder vector*", "one vector for each source word; a single point is an RNN's"),
    ("L1, cross-attention", "$h_1…h_n$ and $z_1…z_n$", "two lengths: source and target need not be as long as each other"),
    ("L0, encoder", "*all layers and sublayers are 512-dimensional*", "what they hand on is; inside, the feed-forward layer is 2,048 wide"),
    ("L4, GPT", "*12 blocks (37 layers)*", "12 blocks; what counts as a layer is a matter of taste"),
    ("L4, GPT", "$W_e^\\top$ *reverses the embedding*", "it takes the dot product with every word's vector; nothing is inverted"),
    ("L4, GPT", "*masked self-attention only*", "so no cross-attention, unlike the decoder of L0 and L1"),
    ("L2, BERT", "*100M* parameters on one slide, *110M* on another", "109,482,240 with the pooler; both heads bring it to 110,106,428"),
    ("L2, additional details", "cost is *quadratic in length*", "only the part where queries meet keys; at 512 words it is a small share"),
    ("L1, layer norm", "*unit mean*, one γ", "mean 0 and deviation 1 over the features of one word; a γ and a β for each feature"),
)  # fmt: skip
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
        FULL: f"{measured.model} learned to say the next word from the words before it. We keep its weights and **lift the mask**: now "
        f"every row sees the whole text, the word it has to say as well. What does its loss on {before.size} new stories do?",
        CAUSAL: f"{measured.model} learned to fill in hidden words from both sides. We keep its weights and **forbid the future**. What "
        f"does its loss on {before.size} new stories do?",
    }[new]
    why = (
        f"From {before.mean():.2f} to {after.mean():.2f} nats a piece: it rises in {int((after > before).sum())} of {before.size} stories. "
        f"To find every piece of the vocabulary equally likely would cost {np.log(measured.vocabulary):.2f}. A mask is no switch: what the "
        "rows look at now, and what comes of it, none of these weights has ever met."
    )
    return Exercise(asked, fate(float(before.mean()), float(after.mean())), why, OPTIONS)


def ends(measured: Curves) -> dict[str, float]:
    """The last value of every line."""
    return {line.label: float(line.y[-1]) for line in measured.lines}


def line(measured: Curves, way: str, read: str) -> float:
    """Where the line of models that were trained in one way and are read in another ends."""
    return next(value for name, value in ends(measured).items() if name == f"{way}, {read}")


def copy_question(measured: Curves, vocabulary: int) -> Exercise:
    """What the loss is of a model that was trained without its mask."""
    seen = line(measured, "trained without it", "read without it")
    plain = line(measured, "trained with the mask", "read with the mask")
    noise = line(measured, "trained without it", "random pieces, read without it")
    asked = (
        f"Now we **train** a small decoder without the mask, on the same stories, for {measured.lines[0].x[-1]:.0f} steps. The same one "
        f"with the mask comes to {plain:.2f} nats. What does the loss without the mask come to?"
    )
    options = ("almost nothing", "a little less than with it", "about the same", "more than with it")
    answer = options[OPTIONS.index(fate(plain, seen))]
    why = (
        f"{seen:.3f} nats. The word that row $i$ has to say stands in the text, one place on, and nothing hides it. On pieces drawn evenly "
        f"from the vocabulary nobody can foresee anything: who does not look pays log {vocabulary:,} = {np.log(vocabulary):.2f} or more, "
        f"this one pays {noise:.2f}. It has learned to copy what it sees."
    )
    return Exercise(asked, answer, why, options)


def writing_question(measured: Curves) -> Exercise:
    """What is left of the model without a mask when there is no future to look at."""
    alone = line(measured, "trained without it", "read with the mask")
    plain = line(measured, "trained with the mask", "read with the mask")
    options = ("it writes better", "it writes as well", "it writes worse")
    place = 0 if alone < 0.95 * plain else 1 if alone <= 1.05 * plain else 2
    asked = (
        "Whoever writes has no future to look at: the next word is not there yet. How does the model that was trained without the mask "
        "do then?"
    )
    why = f"Its loss is {alone:.2f} nats where nothing stands ahead; the model trained with the mask has {plain:.2f}."
    return Exercise(asked, options[place], why, options)


def exposure_question(measured: Exposure) -> Exercise:
    """What one wrong piece does to the chance of the right piece after it."""
    before, after = float(measured.taught[:, 0].mean()), float(measured.wrong[:, 0].mean())
    options = ("it stays about the same", "it falls by less than half", "it falls by half or more")
    place = 0 if after > 0.95 * before else 1 if after > before / 2 else 2
    gaps = (measured.taught - measured.wrong).mean(0)
    late = f"{len(gaps)} pieces on it is {measured.wrong[:, -1].mean():.2f} against {measured.taught[:, -1].mean():.2f}"
    asked = (
        f"{measured.model} reads {len(measured.taught)} new texts, and at one place we force the likeliest **wrong** piece. After it, "
        f"while all before it is right, the next right piece has a chance of {before:.2f}. What becomes of that?"
    )
    why = (
        f"{after:.2f} right after the wrong piece; {late} if all pieces from then on are the right ones again, and "
        f"{measured.free[:, -1].mean():.2f} if it goes on by itself. In training it never read a mistake of its own."
    )
    return Exercise(asked, options[place], why, options)


def keeping_question(record: Blueprint) -> Exercise:
    """Which kind of block holds most parameters."""
    kinds = {
        "the table of the tokens": ("token embeddings",),
        "attention": ("attention", "cross-attention"),
        "feed-forward": ("feed-forward",),
    }
    held = {kind: sum(part.counted for part in record.parts if part.name in names) for kind, names in kinds.items()}
    most = max(held, key=held.__getitem__)
    told = ", ".join(f"{kind} {count:,} ({count / record.total:.0%})" for kind, count in held.items())
    asked = f"{record.model} has {record.total:,} parameters. Where are most of them?"
    return Exercise(
        asked,
        most,
        f"Parameters: {told}. In larger models the vocabulary is a smaller part, since width and depth grow.",
        tuple(held),
    )


def exercises(masks: UnderMasks, built: Blueprint, trace: Trace | None, half: float) -> tuple[Exercise, ...]:
    """Questions about the masks of one text, what the model is built of, one of its norms, and what a layer costs."""
    rows, columns = (len(tokens) for tokens in masks.traces[OWN].axes(masks.stream))
    causal = masks.traces[CAUSAL].attention[0].allowed
    own = masks.losses[MASKS.index(OWN)]
    table = next(part for part in built.parts if part.name == "token embeddings" and part.counted)
    made = [
        Exercise(
            f"{rows} rows look at {columns} columns. How many cells does a causal mask leave?",
            float(causal.sum()),
            "n(n + 1)/2: each row sees itself and all before it.",
            digits=0,
        ),
        Exercise(
            f"The mean loss of this text under the model's own mask is {own.mean():.4f} nats. What is its perplexity?",
            float(np.exp(own.mean())),
            "e to the mean loss.",
        ),
        _attention_count(built),
        Exercise(
            f"The table of the tokens holds {table.counted:,} of {built.total:,} parameters. How many per cent?",
            100 * table.counted / built.total,
            "The vocabulary at the top uses the same table where it is tied.",
            digits=1,
        ),
    ]
    if trace is not None and trace.blocks:
        made.append(_norm(trace.blocks[-1]))
    made.append(
        Exercise(
            "At which length do the pairs of words cost one layer as many multiply-adds as all the rest of it?", half,
            "Where 2n²d equals what grows with n alone; with four square matrices and a feed-forward layer of width 4d: 6d.", digits=0,
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
    """One feature of one word through a norm."""
    x, mean, deviation = (
        float(values[at]) for values, at in ((block.norm_input, (0, 0)), (block.mean, 0), (block.deviation, 0))
    )
    gain, shift = float(block.gain[0]), float(block.shift[0])
    return Exercise(
        f"The last norm's feature 0 of the first word is {x:.3f}; μ = {mean:.3f}, σ = {deviation:.3f}, γ = {gain:.3f}, β = {shift:.3f}. "
        "What comes out?", float(block.normed[0, 0]), "(x − μ) / σ · γ + β.",
    )  # fmt: skip
