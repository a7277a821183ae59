"""Lesson 1. Tokens: how a vocabulary is learned, how words are cut with it, and what that costs."""

import json
from functools import partial
from typing import Any

import streamlit as st

from explorer.lessons import tokens as lesson
from explorer.pages.parts.opening import read
from explorer.records import SideBySide
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.text import classroom
from explorer.text.kinds import words_of
from explorer.text.labels import word_labels
from explorer.text.matching import matches, replay
from explorer.text.seedling import stories
from explorer.text.sidebyside import fertility, segments, side_by_side
from explorer.views import VIEWS

WATCHED = "animal street suitcase because the tired"
TEXT = "The unbelievable zebra didn't cross 3 streets: naïve café 😀"
LABELLED = "Oscar saw a brown bear near the harbour."
IMPORT = "import explorer as ex\nfrom explorer.text import classroom\n"
ORDER = {"WordPiece": "wordpiece", "BPE": "bpe", "Byte BPE": "byte-bpe"}
WAYS = {"by count": "count", "by the lecture's score": "score"}
RARE = ("flibbertigibbet", "zzyzx", "don😀t")


@st.cache_resource(show_spinner=False)
def labelled(text: str) -> Any:
    """Labels of words from a tagger that has counted pieces of a small vocabulary."""
    from explorer.text.learning import tokenizer

    small = tokenizer("wordpiece", classroom.toys(), size=250)
    return word_labels(text, small, classroom.toys(), [" ".join(story) for story in stories(200, 2)])


def formula(chosen: dict[str, Any]) -> None:
    """The lecture's formula with the numbers of the merge on the screen."""
    merge = steps[chosen["step"] - 1]
    a, b = merge.parts
    st.latex(r"\mathrm{score}(a, b) = \frac{\mathrm{freq}(ab)}{\mathrm{freq}(a)\cdot\mathrm{freq}(b)}")
    st.markdown(f"Here: {merge.count:,} / ({a:,} · {b:,}) = **{merge.count / (a * b):.3g}**. Chosen {way}.")


def one_word(text: str) -> str:
    """The first word of what was typed, as WordPiece sees it."""
    return (words_of(classroom.shelf()["wordpiece"].core, text) or ["breadbasket"])[0]


st.title("Tokens")
st.markdown(
    "A model reads neither letters nor words but **pieces** from a fixed list. The list is learned by counting, before the model "
    "sees anything. Here it is learned while you watch, from 600 toy stories."
)
st.header("Learned merge by merge", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    kind = st.segmented_control("Kind", list(ORDER), default="WordPiece", required=True, key="kind", bind="query-params")
    way = st.segmented_control("Next pair", list(WAYS), default="by count", required=True, key="way", bind="query-params")
    watched = st.text_input("Words to watch", WATCHED, key="watch", bind="query-params")
steps = read(partial(classroom.learned, ORDER[kind], WAYS[way], tuple(watched.split()[:10])))
code = f"{IMPORT}trace = classroom.learned({ORDER[kind]!r}, {WAYS[way]!r}, {tuple(watched.split()[:10])!r})"
web.show(VIEWS["merges"], steps, code=code, steps="step", beside=formula)

st.header("Count or score?", divider="blue")
by_count, by_score = (classroom.learned("wordpiece", by) for by in ("count", "score"))
both = f"{IMPORT}trace = classroom.learned('wordpiece', 'count') + classroom.learned('wordpiece', 'score')"
grown = partial(web.show, VIEWS["growth"], by_count + by_score, code=both)
predict(lesson.first_merge_question(by_count, by_score), "guess.merge", grown)

st.header("One word, two readings", divider="blue")
word = one_word(st.text_input("Your word", "breadbasket", key="word", bind="query-params"))
shelf = classroom.shelf()
tries = read(lambda: tuple(matches(word, shelf["wordpiece"].core.get_vocab())))
model = json.loads(shelf["bpe"].core.to_str())["model"]
joined = tuple(
    replay(
        f"▁{word}", [(a, b) for a, b in model["merges"]], letters=[c if c in model["vocab"] else "<unk>" for c in f"▁{word}"]
    )
)


def two_readings() -> None:
    """Longest match, and the merges done again."""
    start = f"{IMPORT}from explorer.text.matching import matches, replay\n"
    known = "classroom.shelf()['wordpiece'].core.get_vocab()"
    web.show(VIEWS["matches"], tries, code=f"{start}trace = tuple(matches({word!r}, {known}))")
    again = "[tuple(step.pair) for step in classroom.learned('bpe', 'count')]"
    fixed = f"merges = [tuple(part.replace('·', '▁') for part in pair) for pair in {again}]"
    web.show(VIEWS["joins"], joined, code=f"{start}{fixed}\ntrace = tuple(replay({'▁' + word!r}, merges))")


predict(lesson.longest_question(tries), f"guess.{word}", two_readings)

st.header("One text, several tokenizers", divider="blue")
st.markdown(
    f"All have read the same toy stories and have at most {classroom.SIZE} pieces; *five languages* is a byte BPE twice as large that "
    "has also read some Finnish, Arabic, Chinese and emoji."
)
text = st.text_input("Your text", TEXT, key="text.tokens", bind="query-params", max_chars=300)
cut: SideBySide = read(lambda: side_by_side(text, shelf))
from_text = f"{IMPORT}from explorer.text.sidebyside import fertility, segments, side_by_side\n"
web.show(VIEWS["pieces"], cut, code=f"{from_text}trace = side_by_side({text!r}, classroom.shelf())")

st.header("Special pieces and segments", divider="blue")
st.markdown(
    "A model is given more than the text: marks for where it begins and ends, and for BERT a *segment* that tells the first text (0) "
    "from the second (1). GPT-2 puts nothing around a text; it has one piece, `<|endoftext|>`, between documents."
)
first, second = "The dog was tired.", "It slept."
framed = side_by_side(first, classroom.systems(), pair=second, special=True)
asked = f"side_by_side({first!r}, classroom.systems(), pair={second!r}, special=True)"
web.show(VIEWS["pieces"], framed, code=f"{from_text}trace = {asked}", key="special")

st.header("What a language costs", divider="blue")
cost = fertility(shelf)
web.show(VIEWS["fertility"], cost, code=f"{from_text}trace = fertility(classroom.shelf())")

st.header("From pieces back to words", divider="blue")
sentence = st.text_input("Your sentence", LABELLED, key="labelled", bind="query-params", max_chars=200)
web.show(
    VIEWS["word-labels"], read(lambda: labelled(sentence)),
    code=f"import explorer as ex\nfrom explorer.text.labels import word_labels\nfrom explorer.text.seedling import stories\n"
    f"told = [' '.join(story) for story in stories(800, 1)]\nsmall = ex.tokenizer('wordpiece', told[:600], size=250)\n"
    f"trace = word_labels({sentence!r}, small, told[:600], told[600:])",
)  # fmt: skip

st.header("Longer than the model", divider="blue")
long = " ".join(classroom.toys()[:60])
parts = segments(long, shelf["wordpiece"])
told = f"{from_text}trace = segments(' '.join(classroom.toys()[:60]), classroom.shelf()['wordpiece'])"
web.show(VIEWS["segments"], parts, code=told)

lost = {word: shelf["wordpiece"].vocabulary.unknown in shelf["wordpiece"].encode(word).ids for word in RARE}
length = len(shelf["wordpiece"].encode(long, special=False))
exercises(lesson.exercises(by_count, by_score, cost, lost, length), "tokens.exercise")
deck(lesson.DECK, f"{lesson.NOTATION}\n\nPieces per word of these stories:\n\n{lesson.table(by_count, by_score)}")
