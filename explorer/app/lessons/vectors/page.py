"""Lesson 2. Vectors: one vector for each word, learned from the words that stand around it, and one for each sentence."""

from functools import partial

import streamlit as st

from explorer.lessons import editing as edits
from explorer.lessons import sentences as whole
from explorer.lessons import vectors as lesson
from explorer.pages.parts import editing, sentences
from explorer.pages.parts import vectors as lab
from explorer.pages.parts.opening import one_of, warn_of_unseen
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS

st.title("Vectors")
st.markdown(
    "A word is known by the words around it (the *distributional hypothesis*). **word2vec** learns to tell words that stand near a word "
    "from strangers; **GloVe** fits how often words stand near each other. What is left is a table: one row of numbers for each word."
)
with st.container(horizontal=True):
    st.latex(r"-\log\sigma(w\cdot c) - \sum_{k=1}^{5}\log\sigma(-w\cdot \bar c_k)", width=330)
    st.latex(r"\sum_{ij} f(X_{ij})\,(w_i\cdot\tilde w_j + b_i + \tilde b_j - \log X_{ij})^2", width=400)
if not lab.trained():
    st.warning(
        "There are no trained vectors on the shelf yet: `python -m explorer.recipes word2vec glove` trains and keeps them."
    )
    st.stop()

st.header("Pairs, as they are drawn", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    text = st.text_input("Your text", lesson.TEXT, key="text", bind="query-params")
    seed = st.number_input("Draw number", 0, 99, 0, key="draw", bind="query-params", width=160)
drawn = lab.tried(partial(lab.drawn, text, int(seed)))
if drawn is not None:
    warn_of_unseen(drawn.tokens)
    told = "told = Told(texts, model.tokenizer.vocabulary.size)\n"
    code = f"{lab.start('word2vec')}{lab.COUNTED}{told}trace = contexts.drawn(model, {text!r}, told, seed={int(seed)})"
    web.show(VIEWS["context-window"], drawn, code=code)
    show = partial(web.show, VIEWS["context-pairs"], drawn, code=code)
    st.markdown("Each pair gets five **strangers**, drawn by chance. The vectors have to tell them apart, nothing else.")
    predict(lesson.stranger_question(lab.drawn(lesson.TEXT, 0)), "guess.stranger", show)

st.header("What lies near a word", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = one_of("Vectors of", lab.shelf(), "vectors", "word2vec")
    word = st.text_input("Word", lesson.OPPOSITES[0], key="word", bind="query-params", width=240)


def show_near() -> None:
    """The neighbours of the word that was typed."""
    found = lab.tried(partial(lab.near, name, word))
    if found is not None:
        web.show(
            VIEWS["neighbours"],
            found,
            code=f"{lab.start(name)}trace = neighbours.neighbours(model, {found.given[0]!r}, top=12)",
        )


every = lab.tried(partial(lab.near, name, lesson.OPPOSITES[0], 10**9))
if every is not None and lesson.OPPOSITES[1] in every.words:
    predict(lesson.opposite_question(every), "guess.opposite", show_near)
else:
    show_near()

st.header("Sums of words", divider="blue")
st.markdown(
    "If *brother → sister* is one direction, then sister − brother + uncle points to *aunt*. The microworld knows the right answers."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    a, b, c = (
        st.text_input(label, first, key=key, bind="query-params", width=130)
        for label, first, key in zip(("a", "is to b", "as c"), lesson.ASKED, ("a", "b", "c"), strict=False)
    )
    allowed = st.toggle("A word of the question may be the answer", key="allowed", bind="query-params")


def show_sums() -> None:
    """The nearest words to b − a + c, then all questions."""
    found = lab.tried(partial(lab.analogy, name, a, b, c, not allowed))
    if found is not None:
        code = f"{lab.start(name)}trace = neighbours.analogy(model, *{found.given!r}, top=8, forbid={not allowed})"
        web.show(VIEWS["neighbours"], found, code=code, key="sum")
    code = lab.start(name, "from explorer.measuring import analogies\n")
    solved = lab.tried(partial(lab.solved, name))
    if solved is not None:
        web.show(VIEWS["analogies"], solved, code=f"{code}trace = analogies.solved(model)")


both = lab.tried(lambda: [lab.analogy(name, *lesson.ASKED[:3], forbid) for forbid in (False, True)] + [lab.solved(name)])
if both is not None:
    predict(lesson.analogy_question(*both), "guess.analogy", show_sums)
else:
    show_sums()

st.header("Ratios of counts", divider="blue")
st.markdown(
    "Why should differences mean anything? A word that stands near *he* but not near *she* has a large P(k | he) / P(k | she); what both "
    "share cancels out. GloVe fits log X, so $(w_a - w_b)\\cdot\\tilde w_k$ is the logarithm of that ratio, as far as the fit is good."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    first = st.text_input("First word", "he", key="first", bind="query-params", width=200)
    second = st.text_input("Second word", "she", key="second", bind="query-params", width=200)
counted = lab.tried(partial(lab.ratios, "glove", first, second))
if counted is not None:
    code = f"{lab.start('glove')}{lab.COUNTED}trace = contexts.ratios(model, *{counted.pair!r}, texts)"
    web.show(VIEWS["ratios"], counted, code=code)

editing.section()

st.header("Words on a plane", divider="blue")
offered = [relation for relation in lab.relations() if len(lab.known_pairs(name, relation)) > 1]
relation = st.segmented_control("Relation", offered, default=offered[0], required=True, key="relation", bind="query-params")
code = f"{lab.start(name)}trace = neighbours.plane(model, {lab.known_pairs(name, relation)!r}, relation={relation!r})"
web.show(VIEWS["plane"], lab.plane(name, relation), code=code)

st.header("One word, one vector", divider="blue")
cosines = {one: lab.uses(one, lesson.SENSE, lesson.SENSES) for one in (*lab.NAMES, "gpt2", "bert")}


def show_uses() -> None:
    """The cosines of both uses."""
    st.markdown(lesson.by_layer(cosines))
    st.caption(
        f"Cosine between the vectors of *{lesson.SENSE}* in both sentences; layer 0 is what enters the first layer. You may conclude which "
        "models can tell the two apart at all. You may not conclude that a lower cosine means a better understood sense: two sentences."
    )


predict(lesson.sense_question(cosines), "guess.sense", show_uses)

sentences.section()

fixed = lab.drawn(lesson.TEXT, 0), lab.ratios("glove", "he", "she"), lab.solved("word2vec"), lab.plane("word2vec", "gender")
of_sentences = whole.exercises(sentences.first(), sentences.measured())
exercises((*lesson.exercises(*fixed), *edits.exercises(editing.asked()), *of_sentences), "vectors.exercise")
deck((*lesson.DECK, *whole.DECK), lesson.NOTATION)
