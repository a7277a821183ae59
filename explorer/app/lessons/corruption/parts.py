"""The records of the corruption lab, as calls that the page runs and prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

import explorer as ex
from explorer.app import recorded, web
from explorer.app.brought import offered_models
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, result_of
from explorer.app.exercises import plain
from explorer.app.glossary import meaning, say
from explorer.app.lessons.corruption import questions
from explorer.app.prose import prose
from explorer.corruption.choosing import written_words
from explorer.corruption.strategies import entry_of
from explorer.models.suited import fills_masks
from explorer.records import Corruption, Exercise, Tokens
from explorer.views import VIEWS, theme
from explorer.views.guess import place_name

PROSE = prose("corruption")

TOURED = "water"  # the blank of the text in the tour
FILLS = "bert"  # with which the page opens
NEW = Call(ex.microworld.texts, 20, 3, "validation")  # stories unrelated to the text


def seeded(key: str, first: int = 0) -> int:
    """The seed of a draw, and a button that draws once more."""
    with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
        seed = int(st.number_input("Seed", 0, 999, first, key=key, bind="query-params", width=170, help=meaning("seed")))
        st.button("New draw", key=f"{key}.new", on_click=_draw_again, args=(key, seed))
    return seed


def _draw_again(key: str, seed: int) -> None:
    st.session_state[key] = (seed + 1) % 1000


def fillers() -> list[str]:
    """The models that fill masks."""
    return [name for name, stored in offered_models().items() if fills_masks(stored)]


def sentinel_tokenizer(name: str) -> Call:
    """The tokenizer of a model, with T5's sentinels."""
    return Call(ex.text.with_sentinels, model_of(name).attr("tokenizer"))


def corrupted(name: str, text: str, strategy: str, seed: int, **options: Any) -> Call:
    """One corruption. The chosen model is the generator of a strategy that takes one; unrelated sentences come from other stories."""
    entry = entry_of(strategy)
    if "sample" in entry.options:
        options["sample"] = Call(ex.analysis.generator, model_of(name), seed)
    if entry.takes_corpus:
        options["corpus"] = NEW
    return Call(ex.corrupt, text, strategy, tokenizer=sentinel_tokenizer(name), seed=seed, **options)


def opening_seed() -> int:
    """The first seed at which ELECTRA's generator replaces at least two tokens of the opening text; 0 where none of ten does."""
    draws = (read(corrupted(FILLS, questions.STORY, "electra", seed)) for seed in range(10))
    return next((seed for seed, drawn in enumerate(draws) if replaced(drawn) > 1), 0)


def seeded_text() -> int:
    """The seed of the draw of this page's text, in the parts that draw; where all parts stand at once, the first of them asks for it."""
    try:
        return seeded("seed", opening_seed())
    except StreamlitDuplicateElementKey:
        return kept_seed()


def kept_seed() -> int:
    """That seed in a part that does not ask for it."""
    return int(st.session_state.get("seed", opening_seed()))


def replaced(drawn: Corruption) -> int:
    """How many tokens are others than in the text that was corrupted."""
    return int((np.asarray(drawn.source.ids) != np.asarray(drawn.original.ids)).sum())


def counted(statistic: Callable[..., Any], name: str, text: str, *more: Any) -> Call:
    """Statistics of many corruptions of a text: rates, lengths of spans by strategy, scores of sentences."""
    return Call(statistic, text, *more, tokenizer=sentinel_tokenizer(name))


def thousand(name: str, seed: int) -> Call:
    """A thousand tokens of new stories, masked."""
    new = Call(
        ex.text.first_tokens, Call(list, Call(ex.microworld.stories, 40, 4, "validation")), sentinel_tokenizer(name), 1000
    )
    return Call(ex.corrupt, new, "mlm", tokenizer=sentinel_tokenizer(name), seed=seed)


def look_at_newest(tokens: Tokens, first: int) -> None:
    """The picture is of the word that a hand has just hidden."""
    now, before = set(st.session_state["hidden"] or [first]), st.session_state.get("hidden.before", {first})
    st.session_state["hidden.before"] = now
    if len(new := now - before) == 1:
        st.session_state["guess.place"] = place_name(tokens, tokens.words.index(*new))


def guessed(name: str, text: str, words: tuple[int, ...]) -> Call:
    """What a model predicts with these words masked."""
    model = model_of(name)
    return Call(ex.guess, model, Call(ex.hide, text, words, tokenizer=model.attr("tokenizer")))


def judged(name: str, text: str, strategy: str, seed: int, **options: Any) -> Call:
    """What a model predicts at the positions that a strategy scores."""
    return Call(ex.guess, model_of(name), corrupted(name, text, strategy, seed, **options))


def planted_curves(what: str) -> Call:
    """The curves of one measure, for the trainings with and without 80/10/10."""
    return Call(Call(ex.lesson, "corruption").attr("part"), Call(ex.result, "planted"), what)


def both_measured(question: tuple[Exercise, str]) -> None:
    """Who corrects a planted word, which is asked, and who fills a blank: they give different answers."""

    def blanks() -> None:
        web.show(VIEWS["curves"], planted_curves(questions.BLANK), key=questions.BLANK.split()[0])
        recorded.again("planted", "planted")

    key = questions.PLANTED.split()[0]
    web.show(VIEWS["curves"], planted_curves(questions.PLANTED), key=key, question=question, below=blanks)


def presets() -> None:
    """Texts of the lectures to hide words in, each a click away."""
    st.caption("Texts of the lectures, one for each kind of blank:")
    with st.container(horizontal=True, gap="small"):
        for number, (label, text) in enumerate(questions.PRESETS.items()):
            st.button(label, key=f"preset.{number}", help=plain(text), on_click=_take, args=(text,))


def kinds_of_blank(name: str) -> None:
    """What one must know to fill these blanks."""
    with st.expander("Several kinds of blank"):
        say(PROSE("blanks"))
        if words := never_read(name, questions.PRESETS["Typed to BERT (L4)"]):
            say(PROSE("blanks: never read", model=plain(name), words=words))


def never_read(name: str, text: str) -> str:
    """The words of a text that are not in the training texts of a model; empty where all are, or nobody knows."""
    words = [f"*{plain(text[slice(*span)])}*" for span in opened(name).tokens(text).unseen_spans]
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


def _take(text: str) -> None:
    st.session_state["story"] = text


def as_pairs() -> None:
    """word2vec's pairs as one more transformation of a text."""
    say(PROSE("paired"))
    st.latex(r"T(x) = \{((w, c), 1),\ ((w, \bar c_1), 0),\ \dots,\ ((w, \bar c_5), 0)\}")
    web.show(VIEWS["context-pairs"], skipgrams(questions.PAIRS_OF, 0))


def skipgrams(text: str, seed: int) -> Call:
    """The pairs of one text, and what word2vec makes of them."""
    word2vec = model_of("word2vec")
    read_texts = Call(ex.text.counted_examples, Call(list, Call(ex.microworld.stories, 3000, 1)), word2vec.attr("tokenizer"))
    return Call(ex.analysis.skipgrams, word2vec, text, read_texts, seed=seed)


def first_hidden(words: list[str]) -> int:
    """The word that is hidden first: the blank of a text of the lesson, or the word in the middle; never a sign."""
    written = [n for n, word in enumerate(words) if any(letter.isalnum() for letter in word)] or list(range(len(words)))
    return next(
        (n for n in written if words[n].lower() in (*questions.BLANKED, TOURED)), written[len(written) // 2] if written else 0
    )


def told_apart(words: list[str]) -> list[str]:
    """The names of words: from its second time on, a word has an index, as a browser knows a choice by its name.

    >>> told_apart(["the", "dog", "the"])
    ['the', 'dog', 'the₂']
    """
    times = [words[: n + 1].count(word) for n, word in enumerate(words)]
    return [word if time == 1 else f"{word}{theme.below(time)}" for word, time in zip(words, times, strict=True)]


def corruption_exercises(name: str, text: str, seed: int) -> tuple[Exercise, ...]:
    """Six exercises on this text; the notebook has one more, which asks nothing about it."""
    model = opened(name)
    first = first_hidden(list(written_words(model.tokens(text), model.tokenizer)))
    counts = result_of(
        (counted(ex.corruption.span_lengths, name, text, "spanbert"), counted(ex.corruption.gap_sentences, name, text))
    )
    first_one, _, *others = questions.exercises(
        read(corrupted(name, text, "mlm", seed)), result_of(guessed(name, text, (first,))), *counts
    )
    return (first_one, *others)
