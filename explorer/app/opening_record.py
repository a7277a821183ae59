"""What the opening shows of its own sentence: what four models expect in each gap of it, and one of BERT's heads from inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import explorer as ex
from explorer.analysis import architectures
from explorer.models.model import Model
from explorer.records import Attention, Lens, Trace, WordPrediction, softmax
from explorer.views.opening.module import signed_palettes
from explorer.views.titles import TITLES

TOP, CHIPS = 3, 4  # tokens of a side, and guesses that are offered
READS = {
    "bilm": "→ reads from the left, ← from the right",
    "encoder": "reads both sides",
    "decoder": "reads the left side, as ChatGPT does",
    "encoder-decoder": "reads both sides, writes from the left",
}
Span = tuple[int, int]


def opening_record(models: Mapping[str, Model], addresses: Mapping[str, str], text: str, word: str) -> dict[str, Any]:
    """All that the opening shows of its own sentence, as the page reads it; at its address a browser fetches a model."""
    spans = architectures.word_offsets(text)
    gap = next(n for n, span in enumerate(spans) if text[slice(*span)] == word)
    hidden = {name: predicted(model, text, spans[gap], model.tokenizer.vocabulary.size) for name, model in models.items()}
    chips = guesses([*hidden.values()], word)
    bert = models["bert"]
    hides = bert.tokenizer.vocabulary.mask
    assert hides is not None, "bert has a [MASK]"
    mask = bert.tokenizer.text_of(hides).strip()
    begin, end = spans[gap]
    masked = text[:begin] + mask + text[end:]
    lens, trace = ex.lens(bert, masked), ex.trace(bert, masked)
    row = lens.tokens.texts.index(mask)
    return {
        "text": text,
        "gap": gap,
        "mask": mask,
        "chips": chips,
        "lanes": [lane(name, model, addresses[name]) for name, model in models.items()],
        "answers": {name: [expected(model, text, span) for span in spans] for name, model in models.items()},
        "yours": {
            name: [shares_of(model, hidden[name], text, spans[gap], chip) for chip in chips] for name, model in models.items()
        },
        "inside": inside(bert, masked, trace, row),
        "floors": floors(lens, row),
        "palettes": signed_palettes(),
    }


def lane(name: str, model: Model, address: str) -> dict[str, Any]:
    """A model, what it may read, and where a browser fetches it."""
    spaced = model.tokenizer.style in ("bytes", "spaces")
    return {
        "name": name, "title": TITLES.get(name, name), "family": model.family, "reads": READS[model.family], "spaced": spaced,
        "address": address,
    }  # fmt: skip


def predicted(model: Any, text: str, span: Span, top: int = TOP) -> WordPrediction:
    """What a model expects at a word: this many tokens, the most probable first."""
    return architectures.word_prediction(model, text, span, top=top)


def expected(model: Model, text: str, span: Span) -> dict[str, Any]:
    """The same as the engine of the page answers (`expectedInGap` in views/live/js/gaps.js)."""
    prediction, tokens = predicted(model, text, span), model.tokens(text)
    sides = [
        {"texts": list(texts), "shares": shares.tolist(), "truth": float(truth)}
        for texts, shares, truth in zip(prediction.texts, prediction.shares, prediction.truth, strict=True)
    ]
    unseen = [list(strange) for strange in tokens.unseen_spans]
    return {"sides": sides, "right": prediction.right, "row": architectures.pieces_at(tokens, span)[0], "unseen": unseen}


def guesses(predictions: Sequence[WordPrediction], hidden: str) -> list[str]:
    """The hidden word, and the other words that the models find most probable together, in the order of the alphabet."""
    total: dict[str, float] = {}
    for prediction in predictions:
        for texts, shares in zip(prediction.texts, prediction.shares, strict=True):
            for token, share in zip(texts[:TOP], shares[:TOP], strict=True):
                if (word := token.removeprefix("·").lower()).isalpha():
                    total[word] = total.get(word, 0) + float(share) / len(texts)
    others = sorted((word for word in total if word != hidden), key=lambda word: -total[word])
    return sorted([hidden, *others[: CHIPS - 1]])


def shares_of(model: Model, prediction: WordPrediction, text: str, span: Span, guess: str) -> list[float]:
    """The probability of a guess on each side; nothing where it is no single token of this model."""
    tokens = model.tokens(text[: span[0]] + guess + text[span[1] :])
    here = architectures.pieces_at(tokens, (span[0], span[0] + len(guess)))
    if len(here) > 1 or int(tokens.ids[here[0]]) == model.tokenizer.vocabulary.unknown:
        return []
    token = tokens.texts[here[0]]
    return [float(shares[texts.index(token)]) for texts, shares in zip(prediction.texts, prediction.shares, strict=True)]


def inside(model: Model, text: str, trace: Trace, row: int) -> dict[str, Any]:
    """One row of the head that decides: its scores, its weights, the values, and what each head of that layer mixes of them."""
    attention, head, without = deciding_head(model, text, trace, row)
    assert attention.v is not None
    texts = ["gap" if n == row else text for n, text in enumerate(trace.source.texts)]
    mixed = [attention.stage("context", one)[row] for one in range(attention.heads)]
    return {
        "layer": attention.layer, "head": head, "heads": attention.heads, "tokens": texts, "row": row, "without": without,
        "scores": _rounded(attention.stage("scaled", head)[row]), "weights": _rounded(attention.weights[head][row]),
        "values": [_rounded(value) for value in attention.v[head]], "mixed": [_rounded(vector) for vector in mixed],
        "all": [np.rint(100 * np.asarray(one.weights)).astype(int).tolist() for one in trace.attention],
    }  # fmt: skip


def deciding_head(model: Model, text: str, trace: Trace, row: int) -> tuple[Attention, int, float]:
    """The head without which the model's best guess for a row loses most, and how probable that guess is without it."""
    best = int(np.argmax(trace.outputs["lm"][row]))

    def share(attention: Attention, head: int) -> float:
        silenced = ex.trace(model, text, edits=[ex.SilenceHead("encoder", attention.layer, head)])
        return float(softmax(silenced.outputs["lm"][row])[best])

    found = [(share(one, head), one.layer, head) for one in trace.attention for head in range(one.heads)]
    without, layer, head = min(found)
    return trace.attention[layer], head, without


def floors(lens: Lens, row: int) -> list[list[dict[str, Any]]]:
    """The best guesses for a row after each layer."""
    return [
        [{"text": text, "share": float(share)} for text, share in zip(texts[row], shares[row], strict=True)]
        for texts, shares in zip(lens.best, lens.shares, strict=True)
    ]


def _rounded(numbers: np.ndarray) -> list[float]:
    """Numbers with as many digits as a picture shows."""
    return np.round(np.asarray(numbers, np.float64), 4).tolist()
