"""The frame of a lesson's page: its title, a bar that stays in view, and parts of which only the chosen one runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import core, glossary, guessing, hold, lecture, present, streamlit_inside
from explorer.app.exercises import ask, exercises
from explorer.app.exercises import deck as slides
from explorer.app.glossary import marked
from explorer.app.lessons import LESSONS
from explorer.app.part_names import EXERCISES, addressed
from explorer.app.prose import Prose
from explorer.records import Exercise
from explorer.views import theme

KEY, TITLE = "part", "part.title"  # in the address of a page, and in the session
SHORT = 180  # letters: an introduction of about a line and a half stays whole
REPEATED = 40  # letters of a part that is not there, as they are repeated
ALL = "all"  # as the part: every part, one below the other, as one prints a page
EVERY_PART = False  # whether a page that names no part shows them all
MODEL, TEXT, NOTHING = "model", "text", "nothing"  # of the bar, what a part reads

_reconnected = st.components.v2.component(
    "pretraining-explorer-reconnected", html="<span></span>", js=streamlit_inside.script("reconnected")
)
FAINT = {"light": "#565e69", "dark": "#b3bbc7"}  # captions and keys: at least 4.5 times lighter or darker than the paper
ONBLUE = {"light": "#ffffff", "dark": "#11151c"}  # on a button in the main colour
BLUE = {mode: colours[0] for mode, colours in theme.LINES.items()}  # the main colour, which the first line of a figure has


def style() -> str:
    """How every page looks."""
    return f"<style>{_colours(hold.mode())}</style>{streamlit_inside.style('page')}"


@cache
def first_style() -> str:
    """The same before a page has begun, when only the browser says whether it is dark."""
    dark = f"@media (prefers-color-scheme: dark) {{ {_colours('dark')} }}"
    return f"<style>{_colours('light')} {dark}</style>{streamlit_inside.style('page')}"


def _colours(mode: str) -> str:
    colours = {"paper": theme.PAPER, "ink": theme.INK, "faint": FAINT, "blue": BLUE, "onblue": ONBLUE, "held": theme.HELD}
    return ":root { " + "; ".join(f"--{name}: {by_mode[mode]}" for name, by_mode in colours.items()) + "; }"


def reach() -> None:
    """What the style of a page cannot do: tables that are moved sideways take the keyboard, words of the glossary open, answers move."""
    with st.container(key="reach"):
        for name in ("streamlit_inside", "glossary", "guessing"):
            st.html(f"<script>{streamlit_inside.script(name)}</script>", unsafe_allow_javascript=True)
        _reconnected(key="reconnected", data=streamlit_inside.CONNECTION, on_back_change=lambda: None)


@dataclass(frozen=True)
class PagePart:
    """A part of a page: its title, what shows it, a shorter name for the bar and the address, and whether it stands under *More*.

    `reads` says what of the bar it reads: all of it, the `MODEL` or the `TEXT` alone, or `NOTHING`; the rest of the bar is not seen then.
    """

    title: str
    show: Callable[[], object]
    label: str = ""
    more: bool = False
    reads: str = ALL

    @property
    def short(self) -> str:
        """The name in the bar."""
        return self.label or self.title

    @property
    def name(self) -> str:
        """The name in the address."""
        return addressed(self.short)


class LessonPage:
    """What stands on every lesson's page around its parts.

    A page writes what all its parts share with `with page.bar:`, and then calls `page.parts(…)`, the last thing that it does.
    """

    def __init__(self, prose: Prose, about: str = "") -> None:
        self.about, self.prose = about or prose("about"), prose
        glossary.begin()
        hold.begin()
        guessing.begin()
        with st.container(horizontal=True, vertical_alignment="center", key="heading"):
            st.title(prose.title, width="content")
            self.line = st.container(width="stretch", key="line")
            self.aside = st.container(width="content", key="aside")
            with st.container(horizontal=True, width="content", wrap=False, vertical_alignment="center", key="more"):
                if not present.on():
                    st.page_link(str(LESSONS["start"].page), label="Pre-training explorer", width="content")
                (guessing if present.on() else core).button()
                present.buttons()
        self.opening = st.container(key="opening")
        self._held = st.container(key="bar")
        with self._held:
            self._choice, self.bar = st.container(key="choice"), st.container(key="controls")

    @property
    def beside_title(self) -> DeltaGenerator:
        """Where the model stands if the bar has no room for it; while presenting, the line of the title is a line of the picture."""
        return self.bar if present.on() else self.aside

    def parts(self, *every: PagePart) -> None:
        """The choice of a part in the bar, and the chosen one below, with what the lectures say of it besides."""
        every = tuple(core.parts(every, part_in_address()))
        chosen = self._chosen(every)
        present.keys(
            [part.name for part in every if part in chosen or not part.more], chosen[0].name if len(chosen) == 1 else ""
        )
        lead, rest = glossary.lead_of(self.about) if len(self.about) > SHORT else (self.about, "")
        if chosen[0] is every[0] and not present.on():
            with self.line, st.container(key="says"):
                st.markdown(marked(lead))
        unread(chosen)
        if (wanted := part_in_address()) not in ("", ALL, *(part.name for part in every)):
            st.caption(f"This page has no part “{wanted[:REPEATED]}”: here is its first.")
        with present.screen(self.line, chosen[0].title if len(chosen) == 1 else "", reads=chosen[0].reads in (ALL, TEXT)):
            _own_question()
            for part in chosen:
                st.header(part.title)
                st.session_state[TITLE] = part.title
                part.show()
                if more := self.prose.sections.get(f"lectures: {part.name}"):
                    st.markdown(marked(more))
                if part is every[0]:
                    if rest:
                        st.markdown(marked(rest))
                    self._written_as_formulas()

    def _written_as_formulas(self) -> None:
        """The same in formulas, below the first picture: what each symbol means, then the lines."""
        if not self.prose.formulas:
            return
        with st.container(border=True, key="formulas"):
            symbols = self.prose("symbols")
            st.markdown(marked("**In formulas.**" + ("\n\n" if symbols.startswith("- ") else " ") + symbols))
            with st.container(horizontal=True, gap="large"):
                for formula in self.prose.formulas:
                    st.latex(formula, width="content")

    def _chosen(self, every: Sequence[PagePart]) -> Sequence[PagePart]:
        """The part in the address; the first where it names none."""
        named, wanted = {part.name: part for part in every}, part_in_address()
        if wanted == ALL:
            with self._choice:
                st.button("Part by part", key="part.one", on_click=choose, args=(every[0].name,), type="tertiary")
            return every
        name = wanted if wanted in named else every[0].name
        if st.session_state.get("part.shown") != name:  # what the part before showed is gone, even if it comes back at once
            st.session_state["part.turn"] = st.session_state.get("part.turn", 0) + 1
        st.session_state["part.chosen"] = st.session_state["part.shown"] = name
        shown = [part.name for part in every if not part.more or part.name == name]
        with self._choice, st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.segmented_control(
                "Parts of this page", shown, format_func=lambda part: named[part].short, required=True, key="part.chosen",
                on_change=_follow, label_visibility="collapsed",
            )  # fmt: skip
            _more([part for part in every if part.name not in shown], name)
        return (named[name],)


def unread(chosen: Sequence[PagePart]) -> None:
    """Fold away what the chosen part does not read of the bar; its controls keep their values."""
    if len(chosen) == 1 and chosen[0].reads != ALL:
        with st.container(key=f"reads-{chosen[0].reads}"):
            st.html("<i hidden></i>")


def _own_question() -> None:
    """While a lesson is presented, the teacher's own question of its step, which is asked before those of the page."""
    own = lecture.question() if present.on() else None
    if own is None:
        return
    key = f"guess.lesson.{lecture.place()}"
    if own.options:
        guessing.answered(own, key)
        return
    with st.container(gap="small", key=f"card.{key}"):
        glossary.say(f"**◇ Predict.** {own.question}")
        ask(own, key)


def _more(folded: Sequence[PagePart], name: str) -> None:
    """The parts that the bar does not show, by their titles; the list closes when one is opened, since it is another page's then."""
    if folded:
        with st.popover("More", type="tertiary", key=f"part.more.{name}"):
            for part in folded:
                st.button(part.title, key=f"part.more.{name}.{part.name}", on_click=choose, args=(part.name,), type="tertiary")


def part_in_address() -> str:
    """The part that the address names, whether it was copied or typed as the bar writes it."""
    return addressed(st.query_params.get(KEY, ALL if EVERY_PART else ""))


def choose(name: str) -> None:
    """Write a part into the address, from which it is read."""
    st.query_params[KEY] = name


def _follow() -> None:
    choose(st.session_state["part.chosen"])


def asking(items: Callable[[], Sequence[Exercise]], key: str, prose: Prose) -> PagePart:
    """The part with a lesson's exercises, computed once it is opened, and the box about the slides."""

    def show() -> None:
        exercises(items(), key)
        if not core.on():
            slides(prose.rows("slides"), prose("notation"))

    return PagePart(EXERCISES, show)
