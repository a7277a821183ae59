"""Lesson 7. Corruption lab: what pre-training hides, what the model must predict, and which positions enter the loss."""

from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import core, hold, present, recorded, web
from explorer.app.controls import chosen_model, opened, read, result_of
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import lead, say
from explorer.app.lessons.corruption import matrix, pairs
from explorer.app.lessons.corruption import parts as lab
from explorer.app.lessons.corruption import questions as lesson
from explorer.app.lessons.corruption.strategy import chosen_strategy
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.corruption.choosing import written_words
from explorer.corruption.counting import laws
from explorer.corruption.strategies import PAIRS, STRATEGIES, entry_of
from explorer.views import VIEWS
from explorer.views.guess import places_of
from explorer.views.strategies import seen_by

PROSE = prose("corruption")


def one_strategy() -> None:
    """One strategy, token by token."""
    strategy, seed, options = chosen_strategy(name, text, names)
    chosen = f" Here {options['rate']:.0%} are chosen." if "rate" in options else ""
    say(entry_of(strategy).says + chosen)
    corrupted = lab.corrupted(name, text, strategy, seed, **options)
    web.show(VIEWS["corruption"], corrupted)
    if not seen_by(result_of(corrupted)).all():
        web.show(VIEWS["visible"], corrupted)
    if entry_of(strategy).masked_lm:
        say(PROSE("masking rate"))
        web.show(VIEWS["surprises"], lab.judged(name, text, strategy, seed, **options), key="strategy")


def pick() -> tuple[int, ...]:
    """The words that are hidden; a choice belongs to the words of one text."""
    first = lab.first_hidden(written := [*written_words(tokens, model.tokenizer)])
    if st.session_state.setdefault("hidden.text", written) != written:
        st.session_state.update({"hidden.text": written, "hidden.before": {first}})
        st.session_state.pop("hidden", None)
    picked = st.pills(
        "Words to hide: the model reads [MASK] in their place", range(len(written)), selection_mode="multi", default=[first],
        format_func=lab.told_apart(written).__getitem__, key="hidden", bind="query-params", on_change=lab.look_at_newest,
        args=(tokens, first),
    )  # fmt: skip
    return tuple(sorted(picked or [first]))


def hidden() -> None:
    """Hide words, guess, and see what the model predicts."""
    chosen = pick()
    guess = lab.guessed(name, text, chosen)

    def question() -> web.Asked:
        """Of the position that the picture is of."""
        record = result_of(guess)
        place = places_of(record).get(st.session_state.get("guess.place", ""), int(record.corruption.scored.argmax()))
        return lesson.guess_question(record, place), f"guess.word.{name}.{text}.{chosen}.{place}"

    web.show(
        VIEWS["guess"], guess, question=question, beside=None if core.on() or present.on() else lambda _: lab.presets(),
        below=None if core.on() else partial(web.show, VIEWS["surprises"], guess),
    )  # fmt: skip
    lab.kinds_of_blank(name)


def how_much() -> None:
    """How much is hidden by chance: in many draws, then in one of a thousand tokens."""
    rates = lab.counted(ex.corruption.rates, name, text)
    web.show(VIEWS["rates"], rates, question=(lesson.coin_question(result_of(rates)), f"guess.coins.{text}"))


def thousand() -> None:
    """A thousand tokens, masked."""
    web.show(VIEWS["squares"], lab.thousand(name, lab.seeded("squares")))


def planted() -> None:
    """What 80/10/10 is for."""
    say_rest = lead(PROSE("three ways"))
    lab.both_measured((lesson.planted_question(result_of(recorded.call("planted"))), "guess.planted"))
    say_rest()


def spans() -> None:
    """How long the spans of a strategy are."""
    which = st.segmented_control("Spans of", list(laws()), default="spanbert", required=True, key="spans", bind="query-params")
    drawn = lab.counted(ex.corruption.span_lengths, name, text, which)
    web.show(VIEWS["span-lengths"], drawn, question=(lesson.spans_question(read(drawn)), f"guess.spans.{which}.{text}"))


page = LessonPage(PROSE)
with page.beside_title:
    name = chosen_model(lab.fillers(), "masked", box="story")
with page.bar, st.container(horizontal=True, vertical_alignment="bottom"):
    text = st.text_input("Your text, a few sentences", lesson.STORY, key="story", bind="query-params", icon=":material/edit:")
model = opened(name)
tokens = read(lambda: model.tokens(text))
with page.bar:
    hold.bar(text, tokens)
notice(text, name)
several = max(tokens.sentences) > 0
names = [name for name in (*STRATEGIES, *PAIRS) if name not in PAIRS or several]

page.parts(
    PagePart("Hide a word", hidden),
    PagePart("One strategy, token by token", one_strategy, "One strategy"),
    PagePart(
        "One text under every strategy", lambda: matrix.show_strategies(name, text, lab.seeded_text(), names), "Every strategy"
    ),
    PagePart("word2vec as pre-training", lab.as_pairs, "word2vec, too", more=True),
    PagePart(
        "Two texts, and borders of spans",
        lambda: pairs.show_text_pairs(name, text, lab.seeded_text(), several),
        "Pairs",
        more=True,
    ),
    PagePart("How much is hidden?", how_much, "How much", more=True),
    PagePart("A thousand tokens", thousand, "Thousand", more=True),
    PagePart("What 80/10/10 is for", planted, "80/10/10", reads=NOTHING),
    PagePart("How long are spans?", spans, "Spans", more=True),
    PagePart(
        "Whole sentences",
        partial(web.show, VIEWS["gap-sentences"], lab.counted(ex.corruption.gap_sentences, name, text)),
        "Sentences",
        more=True,
    ),
    asking(lambda: lab.corruption_exercises(name, text, lab.kept_seed()), "corruption.exercise", PROSE),
)
