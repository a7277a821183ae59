"""Three families: what to guess about masks, and exercises on what a model is built of."""

from __future__ import annotations

import math

import numpy as np

from explorer.app.lessons import SENTENCE
from explorer.app.prose import prose
from explorer.records import Block, Blueprint, Curves, Exercise, Exposure, HeldLosses, Trace, UnderMasks
from explorer.records.exercise import added
from explorer.records.families import CAUSAL, FULL, MASKS, OWN
from explorer.views.titles import titled

PROSE = prose("families")

TEXT = SENTENCE
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
    question = {
        FULL: PROSE("mask removed", model=titled(measured.model), before=before),
        CAUSAL: PROSE("mask causal", model=titled(measured.model), before=before),
    }[new]
    return PROSE.question(
        "mask question",
        fate(float(before.mean()), float(after.mean())),
        options=OPTIONS,
        question=question,
        loss_before=before.mean(),
        loss_after=after.mean(),
        rises=int((after > before).sum()),
        count=before.size,
    )


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
    answer = OPTIONS.index(fate(plain, seen))
    return PROSE.question(
        "copy question",
        answer,
        steps=measured.lines[0].x[-1],
        plain=plain,
        seen=seen,
        vocabulary=vocabulary,
        uniform=np.log(vocabulary),
        noise=noise,
    )


def writing_question(measured: Curves) -> Exercise:
    """How the model without a mask does when no later tokens can be seen."""
    alone = line(measured, "trained without it", "read with the mask")
    plain = line(measured, "trained with the mask", "read with the mask")
    place = 0 if alone < 0.95 * plain else 1 if alone <= 1.05 * plain else 2
    return PROSE.question("writing question", place, alone=alone, plain=plain)


def exposure_question(measured: Exposure) -> Exercise:
    """What one wrong token does to the probability of the right token after it."""
    before, after = float(measured.taught[:, 0].mean()), float(measured.wrong[:, 0].mean())
    place = 0 if after > 0.95 * before else 1 if after > before / 2 else 2
    gaps = (measured.taught - measured.wrong).mean(0)
    late = f"{len(gaps)} tokens later it is {measured.wrong[:, -1].mean():.2f} against {measured.taught[:, -1].mean():.2f}"
    return PROSE.question(
        "exposure question",
        place,
        measured=measured,
        texts=len(measured.taught),
        before=before,
        after=after,
        late=late,
        free=measured.free[:, -1].mean(),
    )


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
    parameters = {kind: sum(part.counted for part in record.parts if part.name in names) for kind, names in kinds.items()}
    counts = ", ".join(f"{kind} {count:,} ({count / record.total:.0%})" for kind, count in parameters.items())
    before, after = (sum(math.prod(times * n for n in shape) for shape in shapes) for times in (1, 2))
    return PROSE.question(
        "doubling question",
        round(math.log2(after / before)) - 1,
        record=record,
        feed_forward=parameters[FORWARD],
        after=after,
        before=before,
        counts=counts,
    )


def exercises(masks: UnderMasks, built: Blueprint, trace: Trace | None, half: float) -> tuple[Exercise, ...]:
    """Questions about the masks of one text, what the model is built of, one of its norms, and what a layer costs."""
    rows, columns = (len(tokens) for tokens in masks.traces[OWN].axes(masks.stream))
    causal = masks.traces[CAUSAL].attention[0].allowed
    own = masks.losses[MASKS.index(OWN)]
    questions = [
        PROSE.question("exercise: causal mask", float(causal.sum()), digits=0, rows=rows, columns=columns),
        PROSE.question("exercise: perplexity", float(np.exp(own.mean())), loss=own.mean()),
        _attention_count(built),
    ]
    if trace is not None and trace.blocks:
        questions.append(_norm(trace.blocks[-1]))
    questions.append(PROSE.question("exercise: half of the cost", half, digits=0))
    return tuple(questions)


def _attention_count(built: Blueprint) -> Exercise:
    """The parameters of one attention."""
    part = next(part for part in built.parts if part.name == "attention")
    shapes = ", ".join(f"{name} {' × '.join(map(str, shape))}" for name, shape in part.weights)
    return PROSE.question("exercise: parameters of an attention", part.counted / part.times, digits=0, part=part, shapes=shapes)


def _norm(block: Block) -> Exercise:
    """One dimension of one token through a norm."""
    x, mean, deviation = (
        float(values[at]) for values, at in ((block.norm_input, (0, 0)), (block.mean, 0), (block.deviation, 0))
    )
    gain, shift = float(block.gain[0]), float(block.shift[0])
    return PROSE.question(
        "exercise: norm",
        float(block.normed[0, 0]),
        x=x,
        mean=mean,
        deviation=deviation,
        gain=gain,
        shift=shift,
        minus_mean=added(-mean),
        plus_shift=added(shift),
    )
