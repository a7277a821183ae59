"""The frame of a lesson's page: its title, a bar that stays in view, and parts of which only the chosen one runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from explorer.app import core, glossary, hold, present
from explorer.app.exercises import deck as slides
from explorer.app.exercises import exercises
from explorer.app.glossary import marked
from explorer.app.prose import Prose
from explorer.records import Exercise

KEY = "part"  # in the address of a page
ALL = "all"  # as the part: every part, one below the other, as one prints a page
EVERY_PART = False  # whether a page that names no part shows them all
EXERCISES = "Exercises"
STYLE = """<style>
.stMainBlockContainer { padding-top: 3.6rem; padding-bottom: 1.25rem; }
.stMainBlockContainer h1 { font-size: 1.7rem; padding: 0.1rem 0; line-height: 1.2; }
.stMainBlockContainer h2 { font-size: 1.35rem; padding: 0 0 0.8rem; line-height: 1.2; }
.stMainBlockContainer [data-testid=stHeadingDivider] { margin-top: 0.3rem; }
.stElementContainer:has(> .stHeading [data-testid=stHeadingDivider]) { margin-bottom: -0.5rem; }
.st-key-more button { min-height: 2rem; padding-top: 0; padding-bottom: 0; }
div:has(> .st-key-heading), div:has(> .st-key-says), div:has(> .st-key-bar) { margin-bottom: -0.5rem; }
.st-key-says p { line-height: 1.5; }
.stMainBlockContainer .katex-display { overflow: visible; }
.stMainBlockContainer h3 { font-size: 1.15rem; padding: 0.6rem 0 0.2rem; }
[data-testid=stCaptionContainer] p, kbd { color: var(--faint) !important; }
[data-testid=stCaptionContainer], [data-testid=stCaptionContainer] p, kbd, :has(> kbd) { opacity: 1 !important; }
[data-testid=stCaptionContainer] code { font-size: 0.8rem; }
[data-testid^=stBaseButton-primary], [data-testid^=stBaseButton-primary] p { color: var(--onblue) !important; }
.st-key-reach, div:has(> .st-key-reach) { display: none; }
.st-key-more > div, .st-key-more { width: auto !important; flex: 0 0 auto !important; }
.st-key-bar { gap: 0.35rem; padding: 0.25rem 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35); }
div:has(> .st-key-bar), .st-key-bar { background: var(--paper, Canvas); }
@media (max-width: 600px) {
  .stMainBlockContainer .katex-display { font-size: 0.8rem; }
  .stMainBlockContainer :is(.stMarkdown, .stTable) table { display: block; overflow-x: auto; max-width: 100%; }
  .st-key-says { flex-direction: column !important; align-items: stretch !important; }
  .st-key-lectured { flex: 0 0 100% !important; }
  [data-testid=stExpandSidebarButton] { width: auto !important; }
  [data-testid=stExpandSidebarButton]::after { content: "Menu"; font-size: 1rem; padding-left: 0.3rem; }
  .js-plotly-plot :is(g.xtick, g.x2tick, g.x3tick, g.x4tick) text { font-size: 12px !important; }
  .js-plotly-plot:is(:has(g.xtick:nth-of-type(9)), :has(g.x2tick:nth-of-type(9))) .heatmap-label { display: none; }
  .st-key-tree-figure .textpoint text[style*="font-size: 12px"] { display: none; }
  .js-plotly-plot:has(g.xtick:nth-of-type(18)):not(:has(g.xtick:nth-of-type(30))) g.xtick:not(:nth-of-type(2n + 1)),
  .js-plotly-plot:has(g.xtick:nth-of-type(30)) g.xtick:not(:nth-of-type(3n + 1)),
  .js-plotly-plot:has(:is(g.x2tick, g.x3tick):nth-of-type(9)) :is(g.xtick, g.x2tick, g.x3tick, g.x4tick):not(:nth-of-type(3n + 1)) {
    visibility: hidden; }
}
@media (min-width: 700px) {
  :is(.st-key-bar, .st-key-opening) :is(.stSelectbox, .stTextInput, .stSlider, .stNumberInput, .stButtonGroup, .stFileUploader) {
    display: flex; flex-direction: row; align-items: center; gap: 0.6rem; }
  :is(.st-key-bar, .st-key-opening) :is(.stSelectbox, .stTextInput, .stSlider, .stNumberInput, .stButtonGroup, .stFileUploader) > * {
    flex: 1 1 0; min-width: 0; }
  :is(.st-key-bar, .st-key-opening) :is(.stSelectbox, .stTextInput, .stSlider, .stNumberInput, .stButtonGroup, .stFileUploader) >
    :is(label, [data-testid=stWidgetLabel]) {
    flex: none; gap: 0.3rem; margin: 0; padding: 0; min-height: 0; }
  .st-key-bar [data-testid=stVerticalBlock] { gap: 0.4rem; }
  .st-key-opening [data-testid=stFileUploaderDropzone] { padding: 0 0.6rem; min-height: 2.5rem; }
}
@media (min-width: 900px) {
  [class*="st-key-placed-"] { display: grid !important; column-gap: 3rem; align-content: start;
    grid-template: "picture above" auto "picture words" 1fr / minmax(0, 3fr) minmax(0, 2fr); }
  [class*="st-key-placed-"] > :nth-child(1) { grid-area: above; }
  [class*="st-key-placed-"] > :nth-child(2) { grid-area: picture; }
  [class*="st-key-placed-"] > :nth-child(3) { grid-area: words; }
}
@media (min-width: 700px) and (min-height: 600px) {
  div:has(> .st-key-bar) { position: sticky; top: 3.4rem; z-index: 90; }
}
</style>"""


REACH = """<script>
if (!window.reaching) {  // on a telephone a wide table is moved sideways: the keyboard reaches it, in every browser
  window.reaching = true;
  let waits = 0;
  const reach = () => {
    waits = 0;
    document.querySelectorAll(":is(.stMarkdown, .stTable) table").forEach(one => {
      if (one.scrollWidth > one.clientWidth + 1) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    });
  };
  const soon = () => { if (innerWidth <= 600) waits ||= requestAnimationFrame(reach); };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", soon);
  soon();
}
</script>"""
FAINT = {"light": "#565e69", "dark": "#b3bbc7"}  # captions and keys: at least 4.5 times lighter or darker than the paper
ONBLUE = {"light": "#ffffff", "dark": "#11151c"}  # on a button in the main colour
PAPER = {"light": "#ffffff", "dark": "#11151c"}  # the backgrounds of the two themes, for what lies over a page


def style() -> str:
    """How every page looks."""
    colours = {"paper": PAPER, "faint": FAINT, "onblue": ONBLUE}
    named = "; ".join(f"--{name}: {by_mode[hold.mode()]}" for name, by_mode in colours.items())
    return f"<style>:root {{ {named}; }}</style>{STYLE}"


def reach() -> None:
    """What the style of a page cannot do: tables that are moved sideways take the keyboard."""
    with st.container(key="reach"):
        st.html(REACH, unsafe_allow_javascript=True)


@dataclass(frozen=True)
class PagePart:
    """A part of a page: its title, what shows it, and a shorter name for the bar and the address."""

    title: str
    show: Callable[[], object]
    label: str = ""

    @property
    def short(self) -> str:
        """The name in the bar."""
        return self.label or self.title

    @property
    def name(self) -> str:
        """The name in the address."""
        return addressed(self.short)


def addressed(name: str) -> str:
    """A name as it stands in an address.

    >>> addressed("Every strategy"), addressed("80/10/10")
    ('every-strategy', '80-10-10')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


class LessonPage:
    """What stands on every lesson's page around its parts.

    A page writes what all its parts share with `with page.bar:`, and then calls `page.parts(…)`, the last thing that it does.
    """

    def __init__(self, prose: Prose, about: str = "", *, more: str = "") -> None:
        self.about, self.prose, self.more = about or prose("about"), prose, more
        glossary.begin()
        hold.begin()
        with st.container(horizontal=True, vertical_alignment="center", key="heading"):
            st.title(prose.title, width="stretch")
            with st.container(horizontal=True, width="content", wrap=False, vertical_alignment="center", key="more"):
                if not present.on():
                    core.button()
                present.buttons()
        with st.container(horizontal=True, vertical_alignment="center", key="says"):
            self._says, self.aside = st.container(), st.container(width="content")
        self.opening = st.container(key="opening")
        self._held = st.container(key="bar")
        with self._held:
            self.bar, self._choice = st.container(), st.container()

    def parts(self, *every: PagePart) -> None:
        """The choice of a part in the bar, and the chosen one below."""
        every = tuple(core.parts(every, asked()))
        chosen = self._chosen(every)
        present.keys([one.name for one in every], chosen[0].name if len(chosen) == 1 else "")
        if chosen[0] is every[0]:
            self._open()
        for one in chosen:
            st.header(one.title, divider="blue")
            one.show()
            if one is every[0]:
                if self.more:
                    st.markdown(marked(self.more))
                self._written_as_formulas()

    def _open(self) -> None:
        """What the page is about, above its first part."""
        with self._says:
            st.markdown(marked(self.about))

    def _written_as_formulas(self) -> None:
        """The same in formulas, below the first picture: what each symbol means, then the lines."""
        if not self.prose.formulas:
            return
        with st.container(border=True, key="formulas"):
            st.markdown(marked(f"**In formulas.** {self.prose('symbols')}"))
            with st.container(horizontal=True, gap="large"):
                for formula in self.prose.formulas:
                    st.latex(formula, width="content")

    def _chosen(self, every: Sequence[PagePart]) -> Sequence[PagePart]:
        """The part in the address; the first where it names none."""
        named, wanted = {one.name: one for one in every}, asked()
        if wanted == ALL:
            with self._choice:
                st.button("Part by part", key="part.one", on_click=choose, args=(every[0].name,), type="tertiary")
            return every
        name = wanted if wanted in named else every[0].name
        if st.session_state.get("part.shown") != name:  # what the part before showed is gone, even if it comes back at once
            st.session_state["part.turn"] = st.session_state.get("part.turn", 0) + 1
        st.session_state["part.chosen"] = st.session_state["part.shown"] = name
        with self._choice:
            st.segmented_control(
                "Parts of this page", list(named), format_func=lambda one: named[one].short, required=True, key="part.chosen",
                on_change=_follow, label_visibility="collapsed",
            )  # fmt: skip
        return (named[name],)


def asked() -> str:
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
