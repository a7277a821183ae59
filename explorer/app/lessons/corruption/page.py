"""Lesson 7. Corruption lab: what pre-training hides, what the model must predict, and which positions enter the loss."""

import math
from functools import partial
from typing import Any

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import made, opened, read, usable, warn_of_unseen
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons.corruption import parts as lab
from explorer.app.lessons.corruption import questions as lesson
from explorer.corruption.choosing import written_words
from explorer.corruption.counting import laws
from explorer.corruption.strategies import PAIRS, STRATEGIES, entry_of
from explorer.views import VIEWS
from explorer.views.strategies import seen_by

st.title("Corruption lab")
with st.container(horizontal=True):
    st.latex(r"\mathcal D \ni x \;\xrightarrow{\;T\;}\; (\tilde x, \tilde y)", width=240)
    st.latex(r"\min_\theta\ \mathcal L = \sum_{w\ \mathrm{predicted}} -\log P_\theta(w \mid \tilde x)", width=320)
st.markdown(
    "The texts of pre-training need no labels. A transformation $T$ corrupts a text $x$: the model reads the corrupted text $\\tilde x$ "
    "and must predict $\\tilde y$, what was removed or changed. Each system of the lectures is one choice of $T$."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    text = st.text_input("Your text, a few sentences", lesson.STORY, key="story", bind="query-params", width=760)
    seed = int(st.number_input("Seed", 0, 999, 0, key="seed", bind="query-params", width=140))
model = opened("bert")
tokens = read(lambda: model.tokens(text))
warn_of_unseen(tokens)
masked = read(lab.corrupted(text, "mlm", seed))
names = [name for name in (*STRATEGIES, *PAIRS) if name not in PAIRS or max(tokens.sentences) > 0]

st.header("One text under every strategy", divider="blue")
every = usable({name: lab.corrupted(text, name, seed) for name in names})
everything = made(every)
names = [record.strategy for record in everything]
web.show(VIEWS["strategies"], every)

st.header("One strategy, token by token", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    if st.session_state.get("strategy", names[0]) not in names:
        del st.session_state["strategy"]
    strategy = st.selectbox("Strategy", names, index=names.index("mlm"), key="strategy", bind="query-params", width=240)
    usual = everything[names.index(strategy)].nominal
    options: dict[str, Any] = {}
    if not math.isnan(usual):
        first = round(100 * usual)
        shares = sorted({5, 15, 30, 40, 80, first})
        share = st.select_slider("Masking rate in %", shares, first, key=f"{strategy}.share", bind="query-params", width=240)
        options |= {} if share == first else {"rate": share / 100}
    entry = entry_of(strategy)
    options |= {name: True for name, label in entry.toggles.items() if st.toggle(label, False, key=name, bind="query-params")}
st.markdown(entry.says)
one = lab.corrupted(text, strategy, seed, **options)
web.show(VIEWS["corruption"], one)
if not seen_by(made(one)).all():
    web.show(VIEWS["visible"], one)
if entry.masked_lm:
    st.markdown(
        "Mask too little and each text teaches little; mask too much and no context is left. Change the masking rate, and watch the mean "
        "of −log P over the predicted tokens."
    )
    web.show(VIEWS["surprises"], lab.judged(text, strategy, seed, **options), key="strategy")

st.header("Hide a word", divider="blue")
st.markdown("Choose one word or several. The model reads your text with these words replaced by [MASK].")
words = dict(enumerate(written_words(tokens, model.tokenizer)))
first = next((n for n, word in words.items() if word == "tired"), len(words) // 2)
picked = st.pills(
    "Words", list(words), format_func=lambda n: words[n], selection_mode="multi", default=[first], key=f"hidden.{text}"
)
chosen = tuple(sorted(picked or [first]))
asked = made(lab.guessed(text, chosen))


def reveal() -> None:
    """What the model predicts, at the masked positions and at all others."""
    web.show(VIEWS["guess"], lab.guessed(text, chosen))
    web.show(VIEWS["surprises"], lab.guessed(text, chosen))


predict(lesson.guess_question(asked, int(asked.corruption.scored.argmax())), f"guess.word.{text}.{chosen}", reveal)

st.header("How much is hidden?", divider="blue")
rates = lab.counted("rates", text)
predict(lesson.coin_question(made(rates)), f"guess.coins.{text}", partial(web.show, VIEWS["rates"], rates))

st.header("A thousand tokens", divider="blue")
number = int(st.number_input("New seed", 0, 999, 0, key="squares", bind="query-params", width=140))
web.show(VIEWS["squares"], lab.thousand(number))

st.header("What 80/10/10 is for", divider="blue")


def show_both() -> None:
    """Both measures: they give different answers."""
    for what in (lesson.PLANTED, lesson.BLANK):
        web.show(VIEWS["curves"], lab.measured(what), key=what.split()[0])


predict(lesson.planted_question(made(recorded.call("planted"))), "guess.planted", show_both)

st.header("How long are spans?", divider="blue")
which = st.segmented_control("Spans of", list(laws()), default="spanbert", required=True, key="spans", bind="query-params")
web.show(VIEWS["span-lengths"], lab.counted("span_lengths", text, which))

st.header("Whole sentences", divider="blue")
web.show(VIEWS["gap-sentences"], lab.counted("gap_sentences", text))

drawn = made((lab.counted("span_lengths", text, "spanbert"), lab.counted("gap_sentences", text)))
exercises(lesson.exercises(masked, asked, *drawn), "corruption.exercise")
deck(lesson.DECK, lesson.NOTATION)
