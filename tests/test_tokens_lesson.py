"""Lesson 1: what its pictures and its answers say, against the records and against counting again."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from string import ascii_letters, ascii_lowercase, digits
from typing import Any

import numpy as np
import pytest
from conftest import LONG, long
from opening import opened
from tokenizers import models, trainers

import explorer as ex
from explorer.app.lessons.tokens import questions as lesson
from explorer.records import WAYS
from explorer.text import classroom
from explorer.text.kinds import CUTS, SPECIALS, words_of
from explorer.text.labels import LABELS, OTHER, labelled_tokens, word_labels
from explorer.text.matching import matches, replay
from explorer.text.sidebyside import LANGUAGES, OTHERS, fertility, segments, sentence, side_by_side
from explorer.text.toy import toy_stories as stories
from explorer.views import VIEWS, export, theme

TEXT = "The zebra didn't cross: naïve café 😀 <b>!"


@pytest.fixture(scope="module")
def ways() -> tuple[Any, Any]:
    return classroom.learned("wordpiece", "count"), classroom.learned("wordpiece", "score")


def written(figure: Any) -> list[str]:
    return list(figure.data[0].text)


def rows(figure: Any) -> dict[str, list[str]]:
    """What is written in each row, by the file of its numbers."""
    texts: dict[str, list[str]] = {}
    for _, _, row, _, text, _ in export.cells(figure):
        texts.setdefault(row, []).append(str(text))
    return texts


def test_a_merge_is_drawn_as_it_is_recorded(ways: Any) -> None:
    steps = tuple(ex.learn("bpe", classroom.toys(), size=200, watch=["animal", "street"]))
    for step in (1, 40, len(steps)):
        figure, merge = VIEWS["merges"](steps, step=step), steps[step - 1]
        assert rows(figure) == {word.strip("·"): list(after) for word, after in zip(merge.words, merge.after, strict=True)}
        assert merge.piece in figure.layout.title.text and f"{merge.size:,} tokens" in figure.layout.title.text
        orange = [t for t, c in zip(written(figure), figure.data[0].customdata, strict=True) if c < 0]
        assert set(orange) <= {merge.piece}
    for line, steps in zip(VIEWS["growth"](sum(ways, ())).data, ways, strict=True):
        assert list(zip(line.x, line.y, strict=True)) == [(s.size, s.fertility) for s in steps]


def test_every_frame_of_the_merges_holds_the_record() -> None:
    merges = classroom.learned("wordpiece", "score", ("animal", "tired"))
    told = json.loads(json.dumps(VIEWS["merges"].moving(merges, "light")))
    rows: list[Any] = [None, None]
    for frame, merge in zip(told["frames"], merges, strict=True):
        rows = [new or rows[n] for n, new in enumerate(frame["rows"])]  # a row that is as before is sent once
        assert [[text for _, text, *_ in row["boxes"]] for row in rows] == [list(word) for word in merge.after]
        keys = [[key for key, *_ in row["boxes"]] for row in rows]
        assert all(len(set(row)) == len(row) for row in keys) and merge.piece in frame["title"]
    assert len(told["colours"]) == len(told["inks"]) and len(set(told["frames"][0]["keys"])) == 2


@pytest.mark.parametrize("mode", theme.MODES)
def test_letters_are_legible_on_every_colour_of_a_box(mode: str) -> None:
    def luminance(colour: str) -> float:  # WCAG 2.2, by its own constants
        parts = [*bytes.fromhex(colour[1:])] if colour[0] == "#" else [float(part) for part in colour[4:-1].split(",")]
        linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    told = VIEWS["merges"].moving(classroom.learned("bpe", "count", ("animal",))[:3], mode)
    for colour, ink in zip(told["colours"], told["inks"], strict=True):
        low, high = sorted((luminance(colour), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour


@LONG
def test_boxes_stand_side_by_side_and_inside_the_picture() -> None:
    texts, merges = side_by_side(TEXT, classroom.shelf()), classroom.learned("bpe", "count")
    for figure in (VIEWS["pieces"](texts), VIEWS["merges"](merges, step=9)):
        bars = figure.data[0]
        for row in np.unique(bars.y):
            starts, ends = bars.base[bars.y == row], (bars.base + bars.x)[bars.y == row]
            assert (np.diff(starts) > 0).all() and (starts[1:] >= ends[:-1]).all()
            assert starts[0] >= 0 and ends[-1] <= figure.layout.xaxis.range[1]


def test_the_steps_of_one_word_are_drawn_as_they_are_recorded() -> None:
    tries = tuple(matches("breadbasket", classroom.shelf()["wordpiece"].core.get_vocab()))
    for step in range(1, len(tries) + 1):
        figure, last = VIEWS["matches"](tries, step=step), tries[max(0, step - 14) : step]
        drawn = list(zip(written(figure), [c < 0 for c in figure.data[0].customdata], strict=True))
        assert drawn == [(match.candidate, match.found) for match in last]
    steps = tuple(replay("breadsk", [("b", "r"), ("br", "e"), ("s", "k")]))
    joins = ("letters", "b r e a d s k"), ("merge 1", "br e a d s k"), ("merge 2", "bre a d s k"), ("merge 3", "bre a d sk")
    assert rows(VIEWS["joins"](steps, step=3)) == {name: text.split() for name, text in joins}


def test_side_by_side_shows_every_piece() -> None:
    shelf = classroom.shelf()
    record = side_by_side(TEXT, shelf)
    shown = rows(VIEWS["pieces"](record))
    for (name, tokenizer), (heading, texts), unknown in zip(shelf.items(), shown.items(), record.unknown, strict=True):
        tokens = tokenizer.encode(TEXT, special=False)
        lost = int((tokens.ids == unknown).sum())
        assert heading == f"{name}: {len(tokens)} tokens" + (f", {lost} unknown" if lost else "")
        assert texts == [t[:15] + "…" if len(t) > 16 else t for t in tokens.texts]


def test_special_pieces_are_shown_with_their_segments() -> None:
    record = side_by_side("A dog.", classroom.systems(), pair="It slept.", special=True)
    special = {
        name: " ".join(text for text, flag in zip(tokens.texts, tokens.special, strict=True) if flag)
        for name, tokens in zip(record.names, record.tokens, strict=True)
    }
    published = {"BERT": "[CLS] [SEP] [SEP]", "BART, RoBERTa": "<s> </s> </s> </s>", "T5": "</s> </s>", "GPT-2": ""}
    assert special == published
    assert set(record.tokens[0].segments) == {0, 1} and record.tokens[0].segments[0] == 0
    with pytest.raises(ex.ExplorerError, match="empty"):
        side_by_side("", classroom.systems(), special=True)


def test_what_a_language_costs_is_counted_right() -> None:
    shelf = classroom.shelf()
    record = fertility(shelf)
    for i, tokenizer in enumerate(shelf.values()):
        for j, language in enumerate(LANGUAGES):
            ids = tokenizer.core.encode(sentence(language), add_special_tokens=False).ids
            assert record.pieces[i, j] == len(ids) and record.unknown[i, j] == ids.count(tokenizer.vocabulary.unknown)
    shown = np.asarray(VIEWS["fertility"](record, count="tokens per word").data[0].z)
    np.testing.assert_allclose(shown, record.pieces / [len(words) for _, words in LANGUAGES.values()], rtol=1e-6)
    for language, (_, words) in LANGUAGES.items():
        assert "".join(words) == sentence(language).replace(" ", "") and sentence(language) not in OTHERS.get(language, ())
    assert record.unknown[record.names.index("byte-bpe")].sum() == 0, "bytes are never unknown"


def test_a_text_without_words_counts_for_nothing() -> None:
    tokenizer, train = classroom.shelf()["bpe"], classroom.toys()[:9]
    single, other = (word_labels("A dog.", tokenizer, train, test) for test in (train, ["\u0301" * 50, *train]))
    assert (single.right, single.tried) == (other.right, other.tried)


@LONG
def test_labels_of_words_are_put_together_by_their_formulas() -> None:
    small = ex.tokenizer("wordpiece", classroom.toys(), size=250)
    record = word_labels("Oscar saw a brown bear.", small, classroom.toys(), [" ".join(story) for story in stories(50, 2)])
    assert record.gold == ("person", OTHER, OTHER, "colour", "animal", OTHER)
    counts = Counter[tuple[int, str]]()
    for text in classroom.toys():
        tokens, _, gold = labelled_tokens(text, small)
        counts.update((int(i), gold[w]) for i, w in zip(tokens.ids, tokens.words, strict=True))
    raw = np.array([[counts[int(piece), label] + 1 for label in LABELS] for piece in record.tokens.ids])
    np.testing.assert_allclose(record.shares, raw / raw.sum(axis=1, keepdims=True))
    for number, word in enumerate(record.words):
        mine = record.shares[np.array(record.tokens.words) == number]
        product = mine.prod(0) / mine.prod(0).sum()
        wanted = {"first token": mine[0], "mean of all tokens": mine.mean(0), "product of all tokens": product}
        for way, shares in wanted.items():
            np.testing.assert_allclose(record.together(way)[number], shares, err_msg=word)
    first, *others = (record.right[way] for way in WAYS)
    assert all(first < other for other in others) and record.tried > 100
    shown = VIEWS["word-labels"](record, way="mean of all tokens").data
    np.testing.assert_allclose(np.asarray(shown[1].z), record.together("mean of all tokens"), rtol=1e-6)


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "byte-bpe", "unigram"])
@pytest.mark.parametrize("longest", [24, 100, 512])
def test_segments_hold_the_whole_text_and_no_more_than_they_may(kind: str, longest: int) -> None:
    tokenizer, text = classroom.shelf()[kind], " ".join(classroom.toys()[:20])
    parts = segments(text, tokenizer, longest=longest)
    assert all(len(part) <= longest for part in parts)
    pieces = [t for part in parts for t, special in zip(part.texts, part.special, strict=True) if not special]
    assert pieces == list(tokenizer.encode(text, special=False).texts)
    with pytest.raises(ex.ExplorerError, match=r"leaves no room|does not fit"):
        segments("a " + "q" * 50, tokenizer, longest=2)


def test_a_long_text_of_many_segments_is_read_once() -> None:
    """Ten times the text takes about ten times as long; read once more for each segment it would take a hundred times."""

    def taken(letters: int) -> float:
        begin = time.process_time()
        assert len(segments("." * letters, classroom.shelf()["wordpiece"], longest=10)) == letters / 8
        return time.process_time() - begin

    taken(800)
    assert taken(40_000) < 35 * taken(4_000)


def test_the_answers_are_right(ways: Any) -> None:
    by_count, by_score = ways
    core = classroom.shelf()["wordpiece"].core
    question = lesson.first_merge_question(by_count, by_score)
    assert question.answer == " + ".join(by_score[0].pair) != " + ".join(by_count[0].pair) and len(question.options) == 2
    letters = {c for text in classroom.toys() for word in words_of(core, text) for c in word} | {*ascii_lowercase, *digits}
    cost = fertility(classroom.shelf())
    items = lesson.exercises(by_count, by_score, cost, {"zzyzx": False, "don😀t": True}, 3549)
    assert items[0].answer == 5 + 2 * len(letters)
    assert items[2].answer == pytest.approx(by_count[-1].fertility) and items[3].answer == "don😀t"
    assert items[4].answer == cost.pieces[3, 2] / cost.pieces[3, 0] and items[5].answer == math.ceil(3549 / 510) == 7
    for word in ("breadbasket", "the", "x😀", "q", "zz"):
        longest = lesson.longest_question(tuple(matches(word, core.get_vocab())))
        assert longest.answer == core.model.tokenize(word)[0].value
        assert longest.options.count(str(longest.answer)) == 1 and len(set(longest.options)) == len(longest.options) >= 2
    assert f"| 100 | {by_count[99].fertility:.2f} | {by_score[99].fertility:.2f} |" in lesson.table(by_count, by_score)


@LONG
@pytest.mark.parametrize("text", ["<script>alert(1)</script>", *long("", "x" * 300, "\x00", "😀", "   ", "$x$ `code` :red[x]")])
def test_the_page_answers_odd_input_calmly(text: str) -> None:
    at = opened("tokens")
    for field in [field for field in at.text_input[:4] if not field.placeholder]:
        field.set_value(text)
    assert not at.run().exception


def test_with_the_same_characters_only_what_nobody_was_given_is_unknown() -> None:
    text, given, fair = "The zebra crossed 3 streets: naïve café", set(ascii_letters + digits), classroom.alike()
    record = side_by_side(text, fair)
    for name, tokens, unknown in zip(record.names, record.tokens, record.unknown, strict=True):
        known = {piece.removeprefix("##") for piece in fair[name].core.get_vocab()}
        assert {letter.lower() if name == "wordpiece" else letter for letter in given} <= known
        assert fair[name].vocabulary.size <= classroom.SIZE
        lost = [text[slice(*tokens.offsets[n])] for n in np.flatnonzero(tokens.ids == unknown)]
        assert not set("".join(lost)) & (given | {" "}), (name, lost)
    before = side_by_side(text, {name: classroom.shelf()[name] for name in fair})
    assert any((tokens.ids == unknown).sum() > 2 for tokens, unknown in zip(before.tokens, before.unknown, strict=True))


@pytest.mark.parametrize("letters", ["", "zQ37"])
def test_letters_that_are_given_are_those_of_the_library_s_initial_alphabet(letters: str) -> None:
    texts, size, special = classroom.toys()[:200], 200, list(SPECIALS["bpe"])
    core = CUTS["bpe"]()
    core.model = models.BPE()
    alphabet = {"initial_alphabet": list(letters), "special_tokens": special, "show_progress": False}
    core.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, **alphabet))
    theirs, ours = set(core.get_vocab()), set(ex.tokenizer("bpe", texts, size=size, letters=letters).core.get_vocab())
    assert len(theirs) == len(ours) == size and set(letters) <= ours
    assert len(theirs & ours) >= size - 4, "ties are broken in another order there"


def test_the_page_gives_all_tokenizers_the_same_characters() -> None:
    at = opened("tokens", part="one-text", letters="the same for all")
    wanted = side_by_side("The unbelievable zebra didn't cross 3 streets: naïve café 😀", classroom.alike())
    counts = [int((tokens.ids == unknown).sum()) for tokens, unknown in zip(wanted.tokens, wanted.unknown, strict=True)]
    drawn = at.get("plotly_chart")[0].proto.spec
    assert not at.exception and any(counts)
    for name, tokens, count in zip(wanted.names, wanted.tokens, counts, strict=True):
        assert f"{name}: {len(tokens)} tokens" + (f", {count} unknown" if count else '"') in drawn, name
