"""The board on a Streamlit page: a component whose choices go back to Python only when the hand rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st

import explorer as ex
from explorer.app import deeds, hold, present, web, weights
from explorer.app.cached import kept
from explorer.app.call import Call, Expression, Given, calls, program
from explorer.app.controls import opened, result_of, stamp_of
from explorer.app.exercises import plain
from explorer.errors import ExplorerError
from explorer.records import ReplaceRow, SilenceHead, Trace
from explorer.views.board.beams import moments
from explorer.views.board.module import style
from explorer.views.board.pack import pack, pack_series, with_host
from explorer.views.board.place import addressed, placed
from explorer.views.board.reading import texts_of
from explorer.views.board.request import NOTE, edit_of, head_of, row_of
from explorer.views.board.widget import board

_component = st.components.v2.component(
    "pretraining-explorer-board",
    html="<div data-board style='--high: 43rem'></div>",
    css=style(),
    js=weights.component_script("board.js"),
)
RECORDED = "board.recorded"  # in the session: its browser does not run models
LETTERS, MOST = 2000, 64  # of a text that a board sends, and edits on it
Force = Callable[[Trace, int, int], None]  # what happens when the token of this rank is chosen at this row
Silence = Callable[[str, int, int], None]  # what happens when a head of a stream and layer is to be silenced


@st.fragment
def show(
    what: Expression,
    *,
    key: str = "board",
    first: dict[str, Any] | None = None,
    steps: Expression | None = None,
    force: Force | None = None,
    text_key: str = "text",
) -> None:
    """The board of the trace that a call makes, its place in the address of the page; below it the file and the code.

    `first` is where it begins, `steps` make the decoding that wrote the text, and `force` goes on with a token whose bar was
    clicked; without it the token is written into the sentence of the page. `text_key` is the box of the sentence: its tokens can be
    masked and replaced.
    """
    taken: tuple[Any, ...] = ()
    try:
        taken = () if steps is None else tuple(result_of(steps))
        live = _live(what, taken, text_key)
        call = what if live else _with_edits(what, key)
        trace = result_of(call)
        data = b"" if live else _packed((call,), (), lambda: pack(trace, steps=taken))
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    if st.session_state.pop(f"{key}.edited", False):
        st.rerun()
    deeds.check()
    row = hold.held_row()
    options = {"view": _begin(key, first, row, trace), **_turn_to(key, row), "live": live}
    _drawn(key, call, trace, data, force, options | {"replace": _is_on_page(trace, text_key)}, text_key)
    if live is None:
        _undoing(key, call)
    lines = {"steps": steps} if steps is not None else {}
    web.folded("Files · Code", f"{key}.files", lambda: _taken(_with_edits(what, key), key, steps=taken, named=lines))


def _live(what: Expression, steps: tuple[Any, ...], text_key: str) -> dict[str, Any] | None:
    """What a browser needs to run the model of this call itself; None where the board stays as it was recorded here."""
    name = weights.name_in(what)
    address = "" if st.session_state.get(RECORDED) else weights.address_of(name)
    if not address or not isinstance(what, Call):
        return None
    trace, given = result_of(what), what.given[1]
    texts = texts_of(trace, opened(name), given if isinstance(given, str) else None)
    if texts is None:
        return None
    both = texts["target"] is not None and what.options.get("target") == given
    followed = texts["text"] == st.session_state.get(text_key) and (both or texts["target"] is None)
    box = f".st-key-{text_key} :is(input, textarea)" if followed else ""
    return texts | {"address": address, "both": both, "box": box, "decoding": moments(trace, steps)}


def _drawn(  # noqa: PLR0913  what a page knows of its board
    key: str, call: Expression, trace: Trace, data: bytes, force: Force | None, options: dict[str, Any], text_key: str
) -> None:
    """The component itself, and what it asks for."""
    mask = mask_of(trace)
    forced = force or (_forced if trace.family != "encoder-decoder" and options["replace"] and text_key == "text" else None)
    note = "" if options["live"] else NOTE.format(where="the server")
    options |= {"key": key, "asks": True, "note": note, "mask": mask, "force": forced is not None, "forces": force is not None}
    _component(
        key=key,
        data=with_host(data, mode=web.mode(), large=present.on(), **options),
        on_view_change=lambda: _again(call, lambda current: _moved(key, current)),
        on_edit_change=lambda: _again(call, lambda current: _edited(key, current, (mask, text_key), forced)),
    )


def _again(call: Expression, act: Callable[[Trace], None]) -> None:
    """Ask for the trace once more where a board is touched: Streamlit keeps what is called then as long as the visitor is there."""
    try:
        trace = result_of(call)
    except ExplorerError:  # its files have gone since
        return
    act(trace)


def last_head(trace: Trace) -> dict[str, Any]:
    """Where a board may begin: in bert's first layer every head reads [CLS] alone; in its last head *it* reads *dog* most."""
    stream = trace.attention[0].stream
    last = max((a for a in trace.attention if a.stream == stream), key=lambda a: a.layer)
    return {"stream": stream, "layer": last.layer, "head": last.heads - 1}


@st.fragment
def series(
    every: Mapping[str, Expression],
    *,
    key: str,
    first: dict[str, Any] | None = None,
    moment: int | None = None,
    silence: Silence | None = None,
) -> None:
    """One board of several traces, to move along: the same text at steps of a training, under several masks, or before and after.

    `moment` is the trace that a control of the page chose; `silence` is what the button "Silence head" does.
    """
    try:
        traces = tuple(result_of(what) for what in every.values())
        data = _packed(tuple(every.values()), tuple(every), lambda: pack_series(traces, list(every)))
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    if st.session_state.pop(f"{key}.edited", False):
        st.rerun()
    deeds.check()
    row, shown = hold.held_row(), next(iter(every.values()))
    options = {"moment": moment, "silence": silence is not None, **_turn_to(key, row)}
    _component(
        key=key,
        data=with_host(data, mode=web.mode(), large=present.on(), view=_begin(key, first, row, traces[0]), **options),
        on_view_change=lambda: _again(shown, lambda trace: _moved(key, trace)),
        on_edit_change=lambda: _again(shown, lambda trace: _silenced(key, trace, silence)),
    )
    labels = tuple(every)
    web.folded("Files · Code", f"{key}.files", lambda: _taken([*every.values()], key, labels=labels))


def _packed(expressions: tuple[Expression, ...], labels: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
    """The buffer, once for every visitor; what is given without a mark that others do not have is packed each time."""
    given = [part.mark for what in expressions for part in calls(what) if isinstance(part, Given)]
    if not all(given):
        return make()
    return kept(("board", *(what.text for what in expressions), *labels, *map(stamp_of, expressions), *given), make)


def put(key: str, place: str) -> None:
    """Send a board to a place, as an address says it: one that is drawn already, too."""
    st.query_params[key] = place
    st.session_state[f"{key}.puts"] = st.session_state.get(f"{key}.puts", 0) + 1


def _begin(key: str, first: dict[str, Any] | None, row: int | None, trace: Trace) -> dict[str, Any]:
    """Where a board begins: as the address says, else as the page does, at the token that is held, here or on another page."""
    begun = (first or {}) | ({} if row is None else {"row": row})
    here = (key, st.session_state.get("part.turn"), st.session_state.get(f"{key}.puts"))
    if key not in st.session_state or st.session_state.get(f"{key}.put") != here:  # it is put there now, perhaps once more
        st.session_state[f"{key}.begin"] = placed(st.query_params.get(key, "")) or begun
        st.session_state[f"{key}.put"] = here
    place: dict[str, Any] = st.session_state[f"{key}.begin"]
    elsewhere = place.get("stream", trace.attention[0].stream) != trace.attention[0].stream  # its rows are other tokens
    return place if row is None or elsewhere else place | {"row": row}


def _turn_to(key: str, row: int | None) -> dict[str, int]:
    """The row that a board is sent to, −1 where none was held yet; `turn` grows whenever it is sent, to the same row, too. `puts` grows
    whenever the board is to begin again where its view says.
    """
    before, shown, turn = st.session_state.get(f"{key}.sent", (None, -1, 0))
    if row is not None and row != before:
        shown, turn = row, turn + 1
    st.session_state[f"{key}.sent"] = (row, shown, turn)
    return {"row": int(shown), "turn": int(turn), "puts": st.session_state.get(f"{key}.puts", 0)}


def _moved(key: str, trace: Trace) -> None:
    """Write where the board is into the address, and hold its token on the page as well."""
    view = st.session_state[key].view
    if view:
        st.query_params[key] = addressed(view)
        row, before = view.get("row"), st.session_state.get(f"{key}.row", st.session_state[f"{key}.begin"].get("row"))
        st.session_state[f"{key}.row"] = row
        first = row not in (None, before) and view.get("stream") == trace.attention[0].stream
        if first and hold.follow(trace.source, row):  # it stands there already
            st.session_state[f"{key}.sent"] = (row, row, st.session_state[f"{key}.sent"][2])


def mask_of(trace: Trace) -> str:
    """How the model of a trace writes a hidden token; empty where it knows none."""
    try:
        tokenizer = opened(trace.model).tokenizer
    except ExplorerError:  # a model of the visitor's, which is not on the shelf
        return ""
    mask = tokenizer.vocabulary.mask
    return "" if mask is None else tokenizer.text_of(mask).strip()


def _is_on_page(trace: Trace, text_key: str) -> bool:
    """Whether a trace reads the sentence in this box and nothing else, so that its tokens can be changed there."""
    text = st.session_state.get(text_key)
    if not isinstance(text, str):
        return False
    try:
        tokens = opened(trace.model).tokens(text)
    except ExplorerError:  # a model of the visitor's, on the page that asks for its sentence
        return True
    return np.array_equal(tokens.ids, trace.source.ids)


def _edited(key: str, trace: Trace, box: tuple[str, str], force: Force | None) -> None:
    """Do what was asked: another word in the sentence of the page, a forced token, or the model once more on edited weights."""
    request, (mask, text_key) = st.session_state[key].edit, box
    if not isinstance(request, dict):
        return None
    if request.get("what") in ("write", "recorded"):
        return _follow_browser(key, trace, request, text_key)
    if request.get("what") == "row":
        return _keep_row(key, trace, request)
    if request.get("what") == "undo":
        return _undo(key)
    if request.get("what") == "force":
        row, rank = request.get("row"), request.get("rank")
        if force is not None and trace.top is not None and isinstance(row, int) and isinstance(rank, int):
            rows, ranks = trace.top.ids.shape
            if 0 <= row < rows and 0 <= rank < ranks:
                force(trace, row, rank)
                st.session_state[f"{key}.edited"] = True
        return None
    text = st.session_state.get(text_key)
    if isinstance(text, str) and _is_on_page(trace, text_key):
        word = mask if request.get("what") == "mask" else str(request.get("text", ""))[:60]
        _set_text(key, request, text_key, replaced(text, trace, request.get("row"), word))
    return None


def _set_text(key: str, request: dict[str, Any], text_key: str, text: str) -> None:
    """Another sentence on the page; should the board be drawn anew, it goes on where it was."""
    st.session_state[text_key] = text
    if isinstance(request.get("view"), dict):
        st.session_state[f"{key}.begin"] = placed(addressed(request["view"]))
    st.session_state[f"{key}.edited"] = True


def _follow_browser(key: str, trace: Trace, request: dict[str, Any], text_key: str) -> None:
    """The page follows its board, on which the model was run in the browser; or the browser could not run it."""
    text, edits, here = request.get("text"), request.get("edits"), st.session_state.get(text_key)
    if request["what"] == "recorded":
        st.session_state[RECORDED] = st.session_state[f"{key}.edited"] = True
    elif isinstance(text, str) and text != here and _is_on_page(trace, text_key):
        _set_text(key, request, text_key, text[:LETTERS])
    elif isinstance(edits, list):
        every = [_call_of(edit_of(trace, given)) for given in edits[:MOST] if isinstance(given, dict)]
        st.session_state[f"{key}.rows"] = sum(every, ())


def _call_of(edit: ReplaceRow | SilenceHead | None) -> tuple[Call, ...]:
    """The call that makes an edit; none where there is none."""
    if edit is None:
        return ()
    if isinstance(edit, SilenceHead):
        return (Call(ex.SilenceHead, edit.stream, edit.layer, edit.head),)
    return (Call(ex.ReplaceRow, edit.stream, edit.layer, edit.head, edit.query, np.asarray(edit.row).tolist()),)


def _silenced(key: str, trace: Trace, silence: Silence | None) -> None:
    """Tell the page which head to silence."""
    request = st.session_state[key].edit
    if silence is None or not isinstance(request, dict) or request.get("what") != "silence":
        return
    edit = head_of(trace, request)
    if edit is not None and edit.layer is not None and edit.head is not None:
        silence(edit.stream, edit.layer, edit.head)
        st.session_state[f"{key}.edited"] = True


def _forced(trace: Trace, row: int, rank: int) -> None:
    """Write an expected token into the sentence of the page: a decoder goes on with it, an encoder has it in this row."""
    text = st.session_state["text"]
    assert trace.top is not None
    if trace.family == "encoder":
        st.session_state["text"] = replaced(text, trace, row, trace.top.texts[row][rank].replace("·", ""))
    else:
        token = opened(trace.model).tokenizer.decode([int(trace.top.ids[row, rank])])
        space = " " if trace.top.texts[row][rank].startswith("·") and not token.startswith(" ") else ""
        st.session_state["text"] = text[: trace.source.offsets[row][1]] + space + token


def _keep_row(key: str, trace: Trace, request: dict[str, Any]) -> None:
    """Remember a row of attention that a hand wrote, as a call that makes the edit."""
    st.session_state[f"{key}.rows"] += _call_of(row_of(trace, request))


def _with_edits(what: Expression, key: str) -> Expression:
    """The call with the rows that hands wrote; they are forgotten when the page asks for another trace."""
    if st.session_state.get(f"{key}.rows.of") != what.text:
        st.session_state[f"{key}.rows.of"], st.session_state[f"{key}.rows"] = what.text, ()
    rows = list(st.session_state[f"{key}.rows"])
    if not rows or not isinstance(what, Call):
        return what
    return Call(what.function, *what.given, **what.options | {"edits": [*what.options.get("edits", ()), *rows]})


def _undoing(key: str, call: Expression) -> None:
    """The edits that the model was run on, and the way back."""
    rows = st.session_state[f"{key}.rows"]
    if not rows:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Undo the last edit", key=f"{key}.undo", on_click=_undo, args=(key,))
        labels = "; ".join(edit.label for edit in result_of(call).edits)
        st.caption(f"The model was run with edited weights ({plain(labels)}). Everything after them follows.")


def _undo(key: str) -> None:
    st.session_state[f"{key}.rows"] = st.session_state[f"{key}.rows"][:-1]


def replaced(text: str, trace: Trace, row: Any, word: str) -> str:
    """A sentence with another word at one of its tokens; as it was where there is no such token."""
    if not isinstance(row, int) or not 0 <= row < len(trace.source) or not word.strip():
        return text
    start, end = trace.source.offsets[row]
    token = text[start:end]
    return text if not token.strip() else text[:start] + token[: len(token) - len(token.lstrip())] + word.strip() + text[end:]


def _taken(
    what: Any,
    key: str,
    *,
    labels: tuple[str, ...] = (),
    steps: tuple[Any, ...] = (),
    named: Mapping[str, Expression] | None = None,
) -> None:
    """The board as a file, with its model where it runs in a page, and the lines that make it in a notebook."""
    view, given, name = placed(st.query_params.get(key, "")), result_of(what), "" if labels else weights.name_in(what)
    model = opened(name) if name and weights.address_of(name) else None
    st.download_button(
        "HTML", lambda: board(given, labels=labels, steps=steps, model=model, **view).page(),
        f"board-{(given[0] if labels else given).model}.html", key=f"{key}.html", on_click="ignore",
    )  # fmt: skip
    more = "".join(f"\n{line} = {made_by.text}" for line, made_by in (named or {}).items())
    chosen = view | ({"labels": list(labels)} if labels else {})
    values = {choice: repr(value) for choice, value in chosen.items()} | {line: line for line in named or {}}
    arguments = "".join(f", {choice}={value}" for choice, value in (values | ({"model": "model"} if model else {})).items())
    st.code(f"{program(what)}{more}\nex.board(trace{arguments})", language="python")
    st.caption(
        "The address of this page holds the model, the text and the position on the board: copy it to share what you see."
    )
