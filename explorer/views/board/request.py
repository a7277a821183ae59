"""What a hand asks for on a board: another token, a forced one, a row of weights, a silent head. A page and a notebook read it alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.errors import ChoiceError, ExplorerError
from explorer.records import Attention, ReplaceRow, SilenceHead, Trace
from explorer.records.again import run

NOTE = (
    "The model does not run in this page: its board was recorded, and {where} runs the model again when you change something."
)
LETTERS = 60  # of a word that is written into a sentence


def row_of(trace: Trace, request: Mapping[str, Any]) -> ReplaceRow | None:
    """The edit of a row that a hand wrote; None where the trace has no such row."""
    attention, shares, head, row = _attention(trace, request), request.get("shares"), request.get("head"), request.get("row")
    if attention is None or not isinstance(shares, list) or not _is_index(head, attention.heads):
        return None
    sound = all(isinstance(share, (int, float)) and 0 <= share <= 1 for share in shares)
    if not sound or not _is_index(row, attention.weights.shape[1]) or len(shares) != attention.weights.shape[2]:
        return None
    assert isinstance(head, int) and isinstance(row, int)
    try:
        return ReplaceRow(attention.stream, attention.layer, head, row, np.array([round(float(share), 6) for share in shares]))
    except ChoiceError:  # shares of something else than one row
        return None


def head_of(trace: Trace, request: Mapping[str, Any]) -> SilenceHead | None:
    """The edit that silences a head; None where the trace has no such head."""
    attention, head = _attention(trace, request), request.get("head")
    if attention is None or not isinstance(head, int) or not _is_index(head, attention.heads):
        return None
    return SilenceHead(attention.stream, attention.layer, head)


def edit_of(trace: Trace, given: Mapping[str, Any]) -> ReplaceRow | SilenceHead | None:
    """An edit as the model in a page has it: {"edit": "SilenceHead", "stream": …}; None where the trace has no such place."""
    if given.get("edit") == "SilenceHead":
        return head_of(trace, given)
    if given.get("edit") != "ReplaceRow":
        return None
    return row_of(trace, {**given, "row": given.get("query"), "shares": given.get("row")})


def _attention(trace: Trace, request: Mapping[str, Any]) -> Attention | None:
    where = (request.get("stream"), request.get("layer"))
    return next((attention for attention in trace.attention if (attention.stream, attention.layer) == where), None)


def _is_index(given: object, count: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given < count


def offers(trace: Trace, model: Any) -> dict[str, Any]:
    """What a board may be asked for in a notebook, where its model is known."""
    if model is None:
        return {}
    mask = model.tokenizer.vocabulary.mask
    mask_text = "" if mask is None else model.tokenizer.text_of(mask).strip()
    doing = {"force": trace.family != "encoder-decoder", "silence": True, "replace": True}
    return {"asks": True, "mask": mask_text, **doing, "note": NOTE.format(where="Python")}


def answered(trace: Trace, model: Any, request: Mapping[str, Any]) -> Trace:
    """The same model once more, over what was asked for; the edits of the trace stay."""
    edit = {"row": row_of, "silence": head_of}.get(str(request.get("what")))
    new_edit = None if edit is None else edit(trace, request)
    if edit is not None and new_edit is None:
        raise ChoiceError("This trace has no such row or head.")
    ids = trace.source.ids.tolist() if edit is not None else _new_ids(trace, model, request)
    target = {} if trace.target is None else {"target": [*trace.target.ids[1:].tolist(), 0]}  # the last token is never read
    layers = sorted({attention.layer for attention in trace.attention})
    edits = [*trace.edits, *([] if new_edit is None else [new_edit])]
    return run(model, ids, edits=edits, layers=layers, blocks=bool(trace.blocks), **target)


def reads_again(trace: Trace, model: Any, now: Mapping[str, Any]) -> Trace:
    """What a page has its model read by now, traced: a text, a target beside it, and edits; layers and blocks as in this trace."""
    layers = sorted({attention.layer for attention in trace.attention})
    target = {} if now.get("target") is None else {"target": now["target"]}
    asked = {"layers": layers, "blocks": bool(trace.blocks), **target}
    plain = run(model, str(now["text"]), **asked)
    edits = [edit for given in now.get("edits", ()) if (edit := edit_of(plain, given)) is not None]
    return run(model, str(now["text"]), edits=edits, **asked) if edits else plain


def _new_ids(trace: Trace, model: Any, request: Mapping[str, Any]) -> list[int]:
    """The tokens of the sentence with another one, or with the expected one that was chosen."""
    what, row, ids = request.get("what"), request.get("row"), trace.source.ids.tolist()
    if any(trace.source.segments):
        raise ChoiceError("A pair of sentences is changed where it was written: trace the new pair.")
    if not isinstance(row, int) or not _is_index(row, len(ids)):
        raise ChoiceError("This sentence has no such token.")
    if what == "force":
        return _forced(trace, ids, row, request.get("rank"))
    if what == "mask" and model.tokenizer.vocabulary.mask is not None:
        return [*ids[:row], int(model.tokenizer.vocabulary.mask), *ids[row + 1 :]]
    word = str(request.get("text", ""))[:LETTERS].strip()
    if what != "replace" or not word:
        raise ChoiceError("This board can mask, replace and force tokens, write rows of weights and silence heads.")
    spaced = " " if trace.source.texts[row].startswith("·") else ""  # some tokens bring their space along
    tokens = model.tokens(spaced + word)
    new = [number for number, special in zip(tokens.ids.tolist(), tokens.special, strict=True) if not special]
    return [*ids[:row], *new, *ids[row + 1 :]]


def _forced(trace: Trace, ids: list[int], row: int, rank: object) -> list[int]:
    """An encoder has the expected token in its row, a decoder goes on with it."""
    if trace.top is None or not isinstance(rank, int) or not _is_index(rank, trace.top.ids.shape[1]):
        raise ChoiceError("This model expects no such token.")
    chosen = int(trace.top.ids[row, rank])
    return [*ids[:row], chosen, *ids[row + 1 :]] if trace.family == "encoder" else [*ids[: row + 1], chosen]


def refusal_of(error: ExplorerError) -> str:
    """Why it could not be done, as the foot of a board says it."""
    return f"The model was not run: {error}"
