"""Lesson 7. Corruption lab: what pre-training hides, what it asks, and where the loss falls."""

import math
from functools import partial
from typing import Any

import streamlit as st

from explorer import library
from explorer.corruption.choosing import written_words
from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.lessons import corruption as lesson
from explorer.pages.parts import corruption as lab
from explorer.pages.parts.opening import opened, read, warn_of_unseen
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS

st.title("Corruption lab")
with st.container(horizontal=True):
    st.latex(r"\mathcal D \ni x \;\xrightarrow{\;T\;}\; (\tilde x, \tilde y)", width=240)
    st.latex(r"\min_\theta\ \mathcal L = \sum_{w\ \mathrm{asked}} -\log P_\theta(w \mid \tilde x)", width=320)
st.markdown(
    "Nobody labels the texts of pre-training. A transformation $T$ damages or hides part of a text $x$, hands the model the rest "
    "$\\tilde x$, and asks for what is missing, $\\tilde y$. Each system of the lectures is one choice of $T$."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    text = st.text_input("Your text, a few sentences", lesson.STORY, key="story", bind="query-params", width=760)
    seed = int(st.number_input("Seed", 0, 999, 0, key="seed", bind="query-params", width=140))
model = opened("bert")
tokens = read(lambda: model.tokens(text))
warn_of_unseen(tokens)
plain = read(lambda: lab.corrupted(text, "mlm", seed))
names = [name for name in (*STRATEGIES, *PAIRS) if name not in PAIRS or max(tokens.sentences) > 0]

st.header("One text under every strategy", divider="blue")
everything = tuple(lab.corrupted(text, name, seed) for name in names)
web.show(VIEWS["strategies"], everything, code=lab.code_of_all(text, names, seed))

st.header("One strategy, piece by piece", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    if st.session_state.get("strategy", names[0]) not in names:
        del st.session_state["strategy"]
    strategy = st.selectbox("Strategy", names, index=names.index("mlm"), key="strategy", bind="query-params", width=240)
    usual = everything[names.index(strategy)].nominal
    options: dict[str, Any] = {}
    if not math.isnan(usual):
        shares, start = (5, 15, 30, 40, 80), round(100 * usual)
        share = st.select_slider("Share in %", shares, start, key=f"{strategy}.share", bind="query-params", width=240)
        options |= {} if share == start else {"rate": share / 100}
    if strategy == "t5" and st.toggle("Roll the mask", False, key="roll", bind="query-params"):
        options |= {"roll": True}
st.markdown(lesson.SAYS[strategy])
record, code = lab.corrupted(text, strategy, seed, **options), lab.code_of(text, strategy, seed, **options)
web.show(VIEWS["corruption"], record, code=code)
if strategy in ("causal", "prefix"):
    web.show(VIEWS["visible"], record, code=code)
if strategy in ("mlm", "whole-word", "spanbert"):
    st.markdown(
        "Few questions make a slow lesson; many leave little to answer from. Move the share, and watch the mean of −log P over the "
        "pieces that are asked."
    )
    judged = f"{code.replace('trace = ', 'held = ')}\ntrace = ex.guess(ex.load('bert'), held)"
    web.show(VIEWS["surprises"], lab.judged(text, strategy, seed, **options), code=judged, key="strategy")

st.header("Hide a word", divider="blue")
st.markdown("Choose one word or several. The model reads your text with these words under [MASK].")
words = dict(enumerate(written_words(tokens, model.tokenizer)))
first = next((n for n, word in words.items() if word == "tired"), len(words) // 2)
picked = st.pills(
    "Words", list(words), format_func=lambda n: words[n], selection_mode="multi", default=[first], key=f"hidden.{text}"
)
chosen = tuple(sorted(picked or [first]))
asked = lab.guessed(text, chosen)


def reveal() -> None:
    """What the model says, at the hidden places and at all others."""
    web.show(VIEWS["guess"], asked, code=lab.code_of_guess(text, chosen))
    web.show(VIEWS["surprises"], asked, code=lab.code_of_guess(text, chosen))


predict(lesson.guess_question(asked, int(asked.corruption.scored.argmax())), f"guess.word.{text}.{chosen}", reveal)

st.header("How much is hidden?", divider="blue")
rates, lengths, gaps = lab.counted(text)
show = partial(web.show, VIEWS["rates"], rates, code=f"{lab.COUNTING}rates({text!r}, tokenizer=tok)")
predict(lesson.coin_question(rates), f"guess.coins.{text}", show)

st.header("A thousand pieces", divider="blue")
number = int(st.number_input("New seed", 0, 999, 0, key="squares", bind="query-params", width=140))
web.show(VIEWS["squares"], lab.thousand(number), code=lab.code_of_thousand(number))

st.header("What 80/10/10 is for", divider="blue")
measured = library.result("planted")
start = "import explorer as ex\nfrom explorer import library\nfrom explorer.lessons.corruption import part\n"


def show_part(what: str) -> None:
    """The lines of one measure."""
    code = f"{start}trace = part(library.result('planted'), {what!r})"
    web.show(VIEWS["curves"], lesson.part(measured, what), code=code, key=what.split()[0])


def show_both() -> None:
    """Both measures: they tell different stories."""
    show_part(lesson.PLANTED)
    show_part(lesson.BLANK)


predict(lesson.planted_question(measured), "guess.planted", show_both)

st.header("How long are spans?", divider="blue")
which = st.segmented_control("Spans of", list(lengths), default="spanbert", required=True, key="spans", bind="query-params")
web.show(VIEWS["span-lengths"], lengths[which], code=f"{lab.COUNTING}span_lengths({text!r}, {which!r}, tokenizer=tok)")

st.header("Whole sentences", divider="blue")
web.show(VIEWS["gap-sentences"], gaps, code=f"{lab.COUNTING}gap_sentences({text!r}, tokenizer=tok)")

exercises(lesson.exercises(plain, asked, lengths["spanbert"], gaps), "corruption.exercise")
deck(lesson.DECK, lesson.NOTATION)
