"""The opening of the front page: what four models expect in each gap of one sentence, and one of BERT's heads from inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

import explorer as ex
from explorer.analysis import architectures
from explorer.app import hold, weights
from explorer.app.cached import cached, lasting_data
from explorer.app.controls import opened
from explorer.app.notice import known_instead
from explorer.models.cache import stamp
from explorer.models.store import shelf_folder
from explorer.records import Attention, Lens, Tokens, Trace, WordPrediction
from explorer.views.opening.module import opening_style, signed_palettes

KEY = "start.opening"
TOP, CHIPS = 3, 4  # tokens of a side, and guesses that are offered
MIXES = 0.9  # the largest weight of the head that is shown is below it: one that takes a single value mixes nothing
TITLES = {"elmo": "ELMo", "bert": "BERT", "gpt2": "GPT", "bart": "BART"}
READS = {
    "bilm": "two readers, one for each side",
    "encoder": "reads both sides",
    "decoder": "reads the left side",
    "encoder-decoder": "reads both sides, writes from the left",
}
Span = tuple[int, int]
_component = st.components.v2.component(
    "pretraining-explorer-opening",
    html="<div data-opening style='min-height: calc(100svh - 4rem)'></div>",
    css=opening_style(),
    js=weights.component_script("opening.js"),
)


def show(names: Sequence[str], own: tuple[str, str], now: tuple[str, str], *, tour: str) -> None:
    """The opening with these models. `own` are its sentence and the word that is missing first, `now` those of the page.

    `tour` is the address at which the guided tour begins; empty while it runs, and then nothing plays.
    """
    record = kept_record(tuple(names), *own) | {"script": weights.script_address("board.js")}
    known = known_instead(now[0], *names) if now[0] != own[0] else ()
    told = {
        "text": now[0],
        "word": now[1],
        "film": bool(tour),
        "tour": tour,
        "mode": hold.mode(),
        "known": {"text": now[0], "words": known},
    }
    _component(key=KEY, data={"record": record, "told": told}, on_typed_change=_typed)


def _typed() -> None:
    """The page follows a sentence that was typed into the opening."""
    typed = st.session_state[KEY].typed
    if isinstance(typed, dict) and isinstance(text := typed.get("text"), str) and text.strip():
        st.session_state["text"], st.session_state["chosen"] = text[: architectures.LETTERS], str(typed.get("word", ""))


@cached(models=tuple(TITLES))
def kept_record(names: tuple[str, ...], text: str, word: str) -> dict[str, Any]:
    """The record, kept on disk as well: a server that starts again needs no model for it, as long as the models are the same."""
    folders = [folder for name in names if (folder := shelf_folder(name)) is not None]
    return lasting_data(("opening", names, text, word, stamp(*folders)), lambda: opening_record(names, text, word))


def opening_record(names: Sequence[str], text: str, word: str) -> dict[str, Any]:
    """All that the opening shows of its own sentence, as the page reads it."""
    spans = architectures.word_offsets(text)
    gap = next(n for n, span in enumerate(spans) if text[slice(*span)] == word)
    hidden = {name: predicted(name, text, spans[gap], opened(name).tokenizer.vocabulary.size) for name in names}
    chips = guesses([*hidden.values()], word)
    mask = opened("bert").tokenizer.text_of(opened("bert").tokenizer.vocabulary.mask).strip()
    begin, end = spans[gap]
    masked = text[:begin] + mask + text[end:]
    lens, trace = ex.lens(opened("bert"), masked), ex.trace(opened("bert"), masked)
    row = lens.tokens.texts.index(mask)
    return {
        "text": text,
        "gap": gap,
        "mask": mask,
        "chips": chips,
        "lanes": [lane(name) for name in names],
        "answers": {name: [expected(name, text, span) for span in spans] for name in names},
        "yours": {name: [shares_of(hidden[name], text, spans[gap], chip) for chip in chips] for name in names},
        "inside": inside(trace, row),
        "floors": floors(lens, row),
        "palettes": signed_palettes(),
    }


def lane(name: str) -> dict[str, Any]:
    """A model, what it may read, and where a browser fetches it."""
    model = opened(name)
    spaced = model.tokenizer.style in ("bytes", "spaces")
    return {
        "name": name, "title": TITLES.get(name, name), "family": model.family, "reads": READS[model.family], "spaced": spaced,
        "address": weights.short_address_of(name),
    }  # fmt: skip


def predicted(name: str, text: str, span: Span, top: int = TOP) -> WordPrediction:
    """What a model expects at a word: this many tokens, the most probable first."""
    return architectures.word_prediction(opened(name), text, span, top=top)


def expected(name: str, text: str, span: Span) -> dict[str, Any]:
    """The same as the engine of the page answers (`expectedInGap` in views/live/js/gaps.js)."""
    prediction, tokens = predicted(name, text, span), opened(name).tokens(text)
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


def shares_of(prediction: WordPrediction, text: str, span: Span, guess: str) -> list[float]:
    """The probability of a guess on each side; nothing where it is no single token of this model."""
    model = opened(prediction.model)
    tokens = model.tokens(text[: span[0]] + guess + text[span[1] :])
    here = architectures.pieces_at(tokens, (span[0], span[0] + len(guess)))
    if len(here) > 1 or int(tokens.ids[here[0]]) == model.tokenizer.vocabulary.unknown:
        return []
    token = tokens.texts[here[0]]
    return [float(shares[texts.index(token)]) for texts, shares in zip(prediction.texts, prediction.shares, strict=True)]


def inside(trace: Trace, row: int) -> dict[str, Any]:
    """One row of one head: its scores, its weights, the values, and what each head of that layer mixes of them."""
    attention, head = mixing_head(trace, row)
    assert attention.v is not None
    texts = ["gap" if n == row else text for n, text in enumerate(trace.source.texts)]
    mixed = [attention.stage("context", one)[row] for one in range(attention.heads)]
    return {
        "layer": attention.layer, "head": head, "heads": attention.heads, "tokens": texts, "row": row,
        "scores": _rounded(attention.stage("scaled", head)[row]), "weights": _rounded(attention.weights[head][row]),
        "values": [_rounded(value) for value in attention.v[head]], "mixed": [_rounded(vector) for vector in mixed],
    }  # fmt: skip


def mixing_head(trace: Trace, row: int) -> tuple[Attention, int]:
    """The head in which the row's largest weight is on another word, and as large as it can be while the head still mixes."""
    found = [
        (float(weights.max()), attention, head)
        for attention in trace.attention
        for head, weights in enumerate(np.asarray(attention.weights)[:, row])
        if _is_word(trace.source, int(weights.argmax())) and int(weights.argmax()) != row
    ]
    mixing = [entry for entry in found if entry[0] < MIXES] or found or [(0.0, trace.attention[0], 0)]
    return max(mixing, key=lambda entry: entry[0])[1:]


def _is_word(tokens: Tokens, n: int) -> bool:
    return not tokens.special[n] and tokens.texts[n].isalpha()


def floors(lens: Lens, row: int) -> list[list[dict[str, Any]]]:
    """The best guesses for a row after each layer."""
    return [
        [{"text": text, "share": float(share)} for text, share in zip(texts[row], shares[row], strict=True)]
        for texts, shares in zip(lens.best, lens.shares, strict=True)
    ]


def _rounded(numbers: np.ndarray) -> list[float]:
    """Numbers with as many digits as a picture shows."""
    return np.round(np.asarray(numbers, np.float64), 4).tolist()
