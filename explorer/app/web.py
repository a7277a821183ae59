"""Views on a Streamlit page: controls, picture, caption, numbers and files. Every choice is in the address of the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from itertools import islice
from typing import Any, TypeAlias

import pandas as pd
import streamlit as st

from explorer.app import core, deeds, guessing, hold, present, staged
from explorer.app.call import program
from explorer.app.controls import result_of
from explorer.app.frame import TITLE
from explorer.app.glossary import marked
from explorer.records import Exercise
from explorer.views import Choice, Control, Range, View, export, theme
from explorer.views.emptied import emptied
from explorer.views.margins import breadths, resized, untitled, widened
from explorer.views.spoken import spoken, written
from explorer.views.view import LIMITS, MEASURED, READING

UNFOLDED = False  # whether numbers and files stand open at first
mode = hold.mode
MORE, SETTINGS = "Numbers · Files · Code", "More settings"
HIGHER = 1.4  # times a drawing as narrow as several in a row of unlike ones: its names are larger for a room
SENTENCE = re.compile(r".*?[.?!](?=\s|$)", re.DOTALL)
MOST = 20_000  # rows of a table on a page: more would take longer than the picture


Asked: TypeAlias = tuple[Exercise, str]  # a question and its key


@dataclass(frozen=True)
class Around:
    """What a page adds to a picture.

    `steps` names the choice that the arrow keys move; `beside` writes what the page has to say next to the picture, knowing what is
    chosen; `click` is given the point of the picture that was clicked. Controls are above the picture; with `first` these are beside
    it and the others are folded. A `wide` picture has its controls and words below it. A `question` (and its key) is beside it, made
    each time that the picture is drawn, since it may be about what is chosen; an option that stands in the picture can be clicked.
    With *Guess first*, or where the tour asks, the guess is made in its empty axes. The caption is below; `below` writes what
    follows it. `fixed` holds choices that the page has made itself. `detail` makes a second picture of what is chosen, or none; it is
    drawn beside the first.
    """

    steps: str = ""
    beside: Callable[[dict[str, Any]], None] | None = None
    click: Callable[[dict[str, Any]], None] | None = None
    first: tuple[str, ...] | None = None
    wide: bool = False
    question: Callable[[], Asked | None] = lambda: None
    below: Callable[[], object] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    detail: Callable[[dict[str, Any]], Any] = lambda chosen: None


def show(
    view: View, what: Any, *, key: str = "", question: Asked | Callable[[], Asked | None] | None = None, **more: Any
) -> None:
    """Show a view of a record on the page, with a question and what else `Around` says.

    `what` is the call that makes the record, or several in a tuple: it is run and, with what a visitor takes along, printed.
    `key` distinguishes two uses of one view on a page.
    """
    record = result_of(what)
    around = Around(question=question if callable(question) else lambda: question, **more)
    if reason := view.fits(record):
        st.info(f"**{view.title}** does not fit here: {reason}")
    else:
        _shown(view, record, (_named(view, key), what), around)


def _named(view: View, key: str) -> str:
    """What the widgets of a picture begin with; `key` tells two uses of one view on a page apart."""
    return f"{view.name}.{key}" if key else view.name


@st.fragment
def _shown(view: View, record: Any, named: tuple[str, Any], around: Around) -> None:
    """One view, redrawn alone when one of its controls is moved; a click may change the rest of the page, so all of it is redrawn then."""
    name = named[0]
    if st.session_state.pop(f"{name}.clicked", False):
        st.rerun()
    asked = around.question()
    spoils = asked is not None and guessing.gives_away(partial(view, record), *asked)
    offered = asked if spoils and not present.on() else None
    asked = None if offered else asked
    above, picture, aside, words = _laid(name, around, beside=asked is not None)
    if offered is not None and not any(map(_to_choose, view.controls(record).values())):
        with words if around.wide or around.beside is None else aside:
            guessing.offer(*offered)
        offered = None
    if asked is not None:
        waits = spoils or guessing.waits(asked[1])
        with above if waits and not around.wide and not present.on() else aside:  # shown to a room, it never moves
            if not guessing.answered(*asked) and waits:
                _waiting(view, view(record), name, (picture, words), asked)
                return
    with above:
        chosen = _controls(view, record, around, name, offered)
    deeds.check()
    figure = cache(lambda: styled(hold.framed(view(record, **chosen))))  # of what moves only once its numbers are asked for
    with picture:
        if view.moving is not None:
            control: Any = view.controls(record).get(around.steps)
            others = {choice: value for choice, value in chosen.items() if choice != around.steps}
            staged.show(view.moving(record, mode(), **others), f"{name}.{around.steps or 'frame'}", control)
        else:
            _pictures(figure(), around.detail(chosen), name, partial(_drawn_with, click=around.click, asked=asked))
    if around.beside is not None:
        with words if around.wide else aside:
            around.beside(chosen)
    if not present.on():
        with words:
            said_of(view, partial(_numbers_and_files, view, figure, chosen, named))
    if around.below is not None:
        around.below()


def _pictures(figure: Any, detail: Any, name: str, draw: Callable[[Any, str], None]) -> None:
    """A picture, and beside it a second one of what is chosen in it, where there is one."""
    if detail is None:
        draw(figure, name)
        return
    first, second = st.columns(2)
    with first:
        draw(figure, name)
    with second:
        drawn(styled(detail), f"{name}.detail")


def _drawn_with(figure: Any, name: str, click: Callable[[dict[str, Any]], None] | None, asked: Asked | None) -> None:
    """A picture with the guess and the answer in it; as long as there is none, a click on an option is the guess."""
    hand = click is not None or asked is not None
    if asked is not None:
        figure = guessing.with_marks(figure, *asked)
        if guessing.may_choose(figure, *asked):
            click = partial(guessing.choose, figure, *asked)
    listens: Any = "ignore" if click is None else partial(_clicked, name, "figure", click)
    drawn(figure, f"{name}.figure", hand=hand, on_select=listens)


def styled(figure: Any) -> Any:
    """A picture in the colours of the page."""
    return export.themed(figure, mode())


def drawn(figure: Any, key: str, alt: str = "", *, hand: bool = False, **more: Any) -> None:
    """A figure on the page, below its title and its notes; a screen reader hears them with its largest value. A pointer over one that may
    be clicked is a `hand`.
    """
    chart = partial(st.plotly_chart, theme=None, key=key, config=export.CONFIG, alt=alt or spoken(figure), **more)
    if present.on():  # it is scaled with its title
        chart(widened(figure))
        return
    with st.container(key=f"titled.{'clicked.' * hand}{key}", gap=None):
        _titled(figure)
        chart(untitled(figure))


def _titled(figure: Any) -> None:
    """A figure's title and behind it its notes, in lines as long as there is room; one that the part has is seen only without it."""
    title, *notes = written(figure)
    lines = [note for note in notes if note] or ["&nbsp;"] * bool(notes)  # a line is kept free for notes that come later
    again = " repeated" if title == escape(st.session_state.get(TITLE, "")) and any(notes) else ""
    st.html(headed(title, " · ".join(lines), again))


def headed(title: str, note: str, kind: str = "") -> str:
    """A figure's title and its notes: behind it, or below it where they need more room."""
    first = f"<span class='figure-title{kind}'>{title}</span>"
    return f"<div class='figure-head'>{first}<span class='figure-note'>{note}</span></div>"


def _laid(name: str, around: Around, *, beside: bool) -> tuple[Any, Any, Any, Any]:
    """The places of the controls, of the picture, of a question and what else is beside it, and of its caption, which is always below."""
    if around.wide:
        aside, picture = st.container(), st.container()
        return st.container(), picture, aside, st.container()
    if not beside and around.beside is None:  # its controls stand in a line, and it has all of the width
        return st.container(), st.container(), st.container(), st.container()
    with st.container(key=f"placed.{name}"):  # in a telephone's order; on a wider screen the picture is beside the others
        above, picture, aside, words = (st.container(key=f"{place}.{name}") for place in ("above", "picture", "aside", "words"))
        return above, picture, aside, words


def _waiting(view: View, figure: Any, name: str, places: tuple[Any, Any], asked: Asked) -> None:
    """The empty axes of a picture that a question stands before, in which the guess is made, and how to read it."""
    picture, words = places
    bare = styled(emptied(figure, view.title, asked[0].options))
    alt = f"{view.title}: empty until the question is answered."
    bare.update_traces(textfont_color=theme.INK[mode()], selector={"type": "bar"})
    listens = partial(_clicked, name, "empty", partial(guessing.choose, bare, *asked))
    with picture:
        drawn(bare, f"{name}.empty", alt, hand=True, on_select=listens)
    if not present.on():
        with words:
            first_of(view)


def beside(view: View, several: Sequence[Any], *, across: int = 0) -> None:
    """The same view of several records side by side, one below the other on a telephone; its caption is below them, once.

    `across` is how many stand in a row; without it all do.
    """
    figures = [styled(view(result_of(what))) for what in several]
    row: Any = across or breadths(figures)
    level(figures, HIGHER if present.on() and not across and max(row) > 1.5 * min(row) else 1)
    columns = (column for _ in range(0, len(several), across or len(several)) for column in st.columns(row))
    for number, (column, what, figure) in enumerate(zip(columns, several, figures, strict=False)):
        with column:
            name = f"{view.name}.{number}"
            st.plotly_chart(figure, theme=None, key=f"{name}.figure", config=export.CONFIG, alt=spoken(figure))
            if not present.on():
                _more(view, figure, (name, what))
    if not present.on():
        said_of(view)


def level(figures: Sequence[Any], higher: float = 1) -> Sequence[Any]:
    """Pictures side by side: their titles and the tops of their drawings on one line, each drawing as high as it is, or `higher`."""
    heights = [figure.layout.height or 0 for figure in figures]
    tops, bottoms = ([getattr(figure.layout.margin, side) or 0 for figure in figures] for side in ("t", "b"))
    for figure in figures:
        if all(heights):
            drawing = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
            resized(figure, higher * drawing + max(tops) + max(bottoms), max(tops), max(bottoms))
            figure.update_layout(title_y=1, title_pad_t=20)
    return figures


def said_of(view: View, more: Callable[[], None] | None = None) -> None:
    """A view's caption: its first sentence, and folded how the figure is read, what it does not show, and `more`.

    In the core hour the first sentence is folded with the rest: the picture has its title.
    """
    first_of(view)
    with st.container(horizontal=True):
        with st.popover(READING, type="tertiary"):
            st.markdown(marked(view.reading[0 if core.on() else len(first_sentence(view)) :].strip()))
        with st.popover(LIMITS, type="tertiary"):
            st.markdown(marked(view.limits))
        if more is not None:
            more()


def first_of(view: View) -> None:
    """The first sentence of a caption: what will be seen. Those after it may hold the answer to a question about the picture."""
    if not core.on():
        st.markdown(marked(first_sentence(view)))


def first_sentence(view: View) -> str:
    """What is to be seen, in one sentence."""
    match = SENTENCE.match(view.reading)
    return match[0] if match else view.reading


def _numbers_and_files(view: View, figure: Callable[[], Any], chosen: dict[str, Any], named: tuple[str, Any]) -> None:
    """The numbers of a picture as a table, its files and its Python, made once they are asked for."""

    def write() -> None:
        numbers, files = st.tabs(["Numbers", "Files and code"])
        with numbers:
            if facts := theme.facts_of(figure()):
                st.html(f"<small>{MEASURED}: {escape(' · '.join(facts))}</small>")
            st.dataframe(_table(figure()), width="stretch")
        with files:
            _taken(view, figure(), chosen, named)

    folded(MORE, f"{named[0]}.more", write)


@st.fragment
def _more(view: View, figure: Any, named: tuple[str, Any]) -> None:
    """What is folded below a narrow picture."""
    _numbers_and_files(view, lambda: figure, {}, named)


def folded(label: str, key: str, write: Callable[[], Any]) -> None:
    """What is written only when a visitor unfolds it: a browser would draw it, seen or not, at every move of a control."""
    if UNFOLDED:
        write()
        return
    with st.popover(label, type="tertiary", key=key, on_change="rerun") as popover:
        if popover.open:
            write()


def again(view: View, key: str = "") -> None:
    """What was pressed beside a picture changes the rest of the page as well: all of it is to be drawn again."""
    st.session_state[f"{_named(view, key)}.clicked"] = True


def _clicked(name: str, drawn_as: str, click: Callable[[dict[str, Any]], None]) -> None:
    """Tell a page which point of a picture was clicked."""
    points = st.session_state[f"{name}.{drawn_as}"].selection.points
    if points:
        click(dict(points[0]))
        renew(name)


def renew(name: str) -> None:
    """Draw all of the page anew when this picture is drawn next: what was clicked in it changes more than the picture."""
    st.session_state[f"{name}.clicked"] = True


def _controls(view: View, record: Any, around: Around, key: str, guess: Asked | None) -> dict[str, Any]:
    """The values of a picture's controls: in rows, or the first ones in place and the others folded; a guess is offered after them."""
    offered: Mapping[str, Any] = view.controls(record)
    chosen = dict(around.fixed)
    if view.moving is not None and around.steps:  # its own player leads through it
        chosen[around.steps] = staged.value(f"{key}.{around.steps}", offered[around.steps])
    first = [name for name in offered if name not in chosen and (around.first is None or name in around.first)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for name in first:
            chosen[name] = _widget(f"{key}.{name}", offered[name], 420 if around.first is None else 190)
            if name == around.steps and len(offered[name].places) > 1:
                _arrows(f"{key}.{name}", offered[name])
        rest = [name for name in offered if name not in chosen]
        if rest:
            with st.popover(SETTINGS, type="tertiary"):  # what it holds is drawn, open or not, so each of them has its value
                for name in rest:
                    chosen[name] = _widget(f"{key}.{name}", offered[name])
        if guess is not None:
            guessing.offer(*guess)
    return {name: chosen[name] for name in offered}


def _arrows(key: str, control: Choice | Range) -> None:
    """Buttons, and the arrow keys, that move a choice one place."""
    for sign, arrow, move in (("Back", "Left", -1), ("Next", "Right", 1)):
        step, help_ = partial(_step, key, control, move), f"{control.label}: one step. Key: {arrow} arrow"
        st.button(sign, key=f"{key}.{arrow}", shortcut=arrow, on_click=step, help=help_)


def one_of(label: str, ways: Mapping[str, Callable[[], object]], key: str) -> None:
    """One of several pictures of a part, chosen by its name: all of them would be a long way down."""
    chosen = st.segmented_control(label, list(ways), default=next(iter(ways)), required=True, key=key, bind="query-params")
    ways[chosen]()


def _step(key: str, control: Choice | Range, move: int) -> None:
    """Move a choice one place on, and stop at either end."""
    options = control.places
    place = options.index(st.session_state.get(key, control.first)) + move
    st.session_state[key] = options[min(max(place, 0), len(options) - 1)]


def _to_choose(control: Control) -> bool:
    """Whether a control has more than one value."""
    return not isinstance(control, Choice | Range) or len(control.places) > 1


def _widget(key: str, control: Control, width: int = 420) -> Any:
    """One control, bound to the address. A value that this record does not offer falls back to the first."""
    _forget_stranger(key, control)
    if not _to_choose(control):
        return control.first
    if isinstance(control, Choice):
        options, first = list(control.options), control.first
        if control.ordered:
            return st.select_slider(control.label, options, first, key=key, bind="query-params", width=width)
        if len(options) <= 6:
            return st.segmented_control(control.label, options, default=first, required=True, key=key, bind="query-params")
        return st.selectbox(control.label, options, index=options.index(first), key=key, bind="query-params", width=240)
    if isinstance(control, Range):
        return st.slider(
            control.label, control.low, control.high, control.first, key=key, bind="query-params", width=min(width, 240)
        )
    return st.toggle(control.label, control.first, key=key, bind="query-params")


def choice(view: View, what: Any, name: str, width: int) -> dict[str, Any]:
    """One control of a picture, in a line with the page's own; what `show` is given as `fixed`."""
    record = result_of(what)
    return {} if view.fits(record) else {name: _widget(f"{view.name}.{name}", view.controls(record)[name], width)}


def _forget_stranger(key: str, control: Control) -> None:
    if key in st.session_state:
        try:
            control.check(key, st.session_state[key])
        except export.ChoiceError:
            del st.session_state[key]


def _table(figure: Any) -> pd.DataFrame:
    """The first numbers of a picture; all of them stand in its CSV file."""
    some = islice(export.cells(figure), MOST)
    return pd.DataFrame([[str(part) for part in cell] for cell in some], columns=export.COLUMNS)


def _taken(view: View, figure: Any, chosen: dict[str, Any], named: tuple[str, Any]) -> None:
    """Files of this picture, and the Python that makes it in a notebook. `named` is its key on the page and the call."""
    name, what = named
    drawn = export.browser() is not None
    with st.container(horizontal=True):
        for kind in ("html", "csv", "png", "svg", "pdf"):
            make = partial(export.KINDS[kind], figure, mode=mode(), caption=view.caption)
            off = kind in ("png", "svg", "pdf") and not drawn
            st.download_button(kind.upper(), make, f"{view.name}.{kind}", key=f"{name}.{kind}", disabled=off, on_click="ignore")
    if not drawn:
        st.caption(
            "PNG, SVG and PDF need Chrome or Chromium on the machine that runs this app; none was found there. HTML needs nothing."
        )
    arguments = "".join(f", {name}={value!r}" for name, value in chosen.items())
    st.code(f"{program(what)}\nex.show({view.name!r}, trace{arguments})", language="python")
    st.caption("The address of this page holds the model, the text and every choice: copy it to share what you see.")
