"""The plain world: seeds and splits, what its tables may not hold, and its minimal pairs, which no training text holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from conftest import LONG, long
from test_plain_world import COUNTS, WORDS, drawn, written_out

from explorer.analysis.evaluation.plain_pairs import plain_pairs
from explorer.errors import ChoiceError, TextError
from explorer.microworld import labelled, stories
from explorer.microworld.apart import LECTURE
from explorer.microworld.grammar import frames as framing
from explorer.microworld.grammar import words
from explorer.microworld.grammar.frames import frames
from explorer.microworld.grammar.plain import PlainText, combinations, hidden, plain_texts
from explorer.microworld.grammar.tree import ProperName


@LONG
def test_the_same_seed_gives_the_same_texts_in_every_process() -> None:
    code = "from explorer.microworld import labelled; print([(s.text, s.words, s.mentions) for s in labelled(120, 5, version='2.0')])"
    mine = f"{[(s.text, s.words, s.mentions) for s in labelled(120, 5, version='2.0')]}\n"
    for seed in ("0", "4321"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        assert (
            subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, encoding="utf-8", check=True).stdout
            == mine
        )
    for strand in COUNTS:
        first = [text.sentences for text in plain_texts(20, 5, strand=strand)]
        assert first == [text.sentences for text in islice(plain_texts(300, 5, strand=strand), 20)]
        assert first != [text.sentences for text in plain_texts(20, 6, strand=strand)]


def test_the_strands_take_turns_and_labels_belong_to_the_texts() -> None:
    texts = list(islice(stories(40, 3, version="2.0"), 40))
    assert [story.text for story in labelled(40, 3, version="2.0")] == [" ".join(text) for text in texts]
    assert texts[1] == next(plain_texts(1, 3)).sentences and texts[3] == next(plain_texts(1, 3, strand="exchange")).sentences


@cache
def by_split() -> dict[str, tuple[PlainText, ...]]:
    held_out = {split: (*drawn("plain", split, 500), *drawn("exchange", split, 200)) for split in ("validation", "test")}
    return {"train": tuple(text for strand in COUNTS for text in drawn(strand)), **held_out}


@LONG
def test_splits_share_no_text() -> None:
    train, validation, test = ({straight(text) for text in texts} for texts in by_split().values())
    assert not train & validation and not train & test and not validation & test


def straight(text: PlainText) -> str:
    """A text without the differences that short forms and apostrophes make."""
    return " ".join(written_out(sentence) for sentence in text.sentences)


@LONG
def test_training_never_reads_what_is_kept_for_the_test() -> None:
    names = [re.split(r"[/ #\t]", row)[0] for row in rows("nouns", "adjectives", "names", "verbs")]
    kept = {name[1:] for name in names if name[0] == "*"} - {
        name for name in names if name[0] != "*"
    }  # a *study*, but *to study*
    assert len(kept) > 20
    pairs: dict[str, set[str]] = {}
    for split, texts in by_split().items():
        spoken = {word for text in texts for word in WORDS.findall(" ".join(text.sentences))}
        assert bool(kept & spoken) == (split == "test"), (split, kept & spoken)
        pairs[split] = {pair for text in texts for tree in text.trees for pair in combinations(tree)}
    assert not any(hidden(pair) for pair in pairs["train"])
    assert len(pairs["test"] - pairs["train"]) > 50 and sum(hidden(pair) for pair in pairs["test"]) > 25
    for text in by_split()["train"]:
        for sentence in text.sentences:
            said = set(WORDS.findall(sentence.lower()))
            assert not any(first in said and second in said for first, second in LECTURE), sentence


def rows(*tables: str) -> Iterator[str]:
    """The rows of word tables, as they are written."""
    for table in tables:
        lines = (words.FOLDER / f"{table}.tsv").read_text("utf-8").splitlines()
        yield from (line for line in lines if line.strip() and line[0] not in "#=")


@LONG
def test_few_texts_are_alike() -> None:
    """Texts that are the same, and those that differ in one word only: among all, and of the test against training."""
    plain = [straight(text) for text in drawn("plain")]
    assert len(set(plain)) > 0.9 * len(plain)
    near: Counter[tuple[str, ...]] = Counter()
    for text in set(plain):
        parts = tuple(text.split())
        near.update({(*parts[:n], "…", *parts[n + 1 :]) for n in range(len(parts))})
    alike = sum(
        any(near[(*parts[:n], "…", *parts[n + 1 :])] > 1 for n in range(len(parts)))
        for parts in map(tuple, map(str.split, set(plain)))
    )
    assert alike / len(set(plain)) < 0.5


@LONG
def test_every_row_of_words_is_reached_by_a_frame() -> None:
    reached = words_of([text.trees for texts in by_split().values() for text in texts])
    for table in (words.nouns(), words.verbs(), words.adjectives(), words.adverbs()):
        lost = [row.name if isinstance(row, words.TranslatedVerb) else row.en for row in table if row not in reached]
        assert len(lost) <= 0.02 * len(table), lost
    lost = [name.en for name in words.names() if name.en not in reached]
    assert len(lost) <= 0.1 * len(words.names()), lost
    assert not [noun.en for noun in words.feminines().values() if noun not in reached]
    names = {name for texts in by_split().values() for text in texts for name in text.frame.split("+")}
    assert names == {frame.name for frame in frames()}


def words_of(node: object) -> set[object]:
    """The rows of words in trees, and the names."""
    if isinstance(node, (words.Noun, words.TranslatedVerb, words.Adjective, words.Adverb)):
        return {node}
    found = set().union(*map(words_of, node)) if isinstance(node, (tuple, list)) else set()
    return found | ({node.text} if isinstance(node, ProperName) else set())


@pytest.mark.parametrize(
    ("table", "row", "message"),
    [
        ("nouns", "wolf\tloup\tm", "nouns.tsv, line 2: 3 columns instead of 5"),
        ("nouns", "cat\tchat\tm\tanimal\t\ncat\tchat\tm\tpet\t", "nouns.tsv, line 3: 'cat' is in line 2 already"),
        ("verbs", "eat ate eaten\tmanger\tperson", "verbs.tsv, line 2: 3 columns instead of 5"),
        ("verbs", "eat ate\tmanger\tperson\t\tact", "verbs.tsv, line 2: 'eat ate' cannot be read"),
        ("adverbs", "today\taujourd'hui\ttime", "adverbs.tsv, line 2: 3 columns instead of 4"),
    ],
)
def test_a_faulty_table_of_words_is_refused_with_its_line(
    table: str, row: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{table}.tsv").write_text(f"# a head\n{row}\n", "utf-8")
    monkeypatch.setattr(words, "FOLDER", tmp_path)
    with pytest.raises(TextError, match=re.escape(message)):
        getattr(words, table).__wrapped__()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a\t1\tpast\tA:person <eat> x:fruits .", "frames.tsv, line 2: 'a' names the class 'fruits'"),
        ("a\t1\tpast\tA:person <eet> x:fruit .", "frames.tsv, line 2: 'a' names the verb 'eet'"),
        ("a\t1\tpast\tA:person <be#copula> =gladly .", "frames.tsv, line 2: 'a' names the adjective 'gladly'"),
        ("a\t1\tpast\tA:person <sleep> @sometime .", "frames.tsv, line 2: 'a' names the phrase 'sometime'"),
        ("a\t1\tpast\tthe/A:dog <eat> x:likes(A) .", "frames.tsv, line 2: 'a' names the fact 'likes'"),
        ("a\t1\tpast\tA:person <sleep>", "frames.tsv, line 2: 'a' cannot be read"),
        ("a\t1\tpast", "frames.tsv, line 2: 3 columns instead of 4"),
        ("a\tmuch\tpast\tA:person <sleep> .", "frames.tsv, line 2: 'a' cannot be read"),
        ("a\t1\tpast\tA:person <sleep> .\na\t1\tpast\tA:person <run> .", "frames.tsv, line 3: there is a frame 'a' in line 2"),
        ("a\t1\tyesterday\tA:person <sleep> .", "frames.tsv, line 2: 'a' names the tense 'yesterday'"),
    ],
)
def test_a_faulty_frame_is_refused_with_its_line(
    row: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "frames.tsv").write_text(f"# a head\n{row}\n", "utf-8")
    monkeypatch.setattr(framing, "FILE", tmp_path / "frames.tsv")
    with pytest.raises(TextError, match=re.escape(message)):
        framing.frames.__wrapped__()


def test_a_wrong_split_strand_or_count_is_explained() -> None:
    for call, message in (
        (lambda: next(plain_texts(1, 0, "dev")), "train, validation, test"),
        (lambda: next(plain_texts(1, 0, strand="poem")), "plain, exchange, everyday"),
        (lambda: next(plain_texts(1, 0, "test", strand="everyday")), "all in training: there is none of it in test"),
        (lambda: next(plain_texts(-1, 0)), "count=-1"),
        (lambda: next(plain_texts(1, "a")), "seed='a'"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ChoiceError, match=message):
            call()


@LONG
def test_plain_pairs_differ_in_few_words_that_are_known() -> None:
    kinds = Counter(kind for kind, _, _ in plain_pairs())
    assert sum(count >= 20 for count in kinds.values()) >= 10 and len({pair[1:] for pair in plain_pairs()}) == len(
        plain_pairs()
    )
    read = {word for strand in COUNTS for text in drawn(strand)
            for word in WORDS.findall(" ".join(text.sentences).lower())}  # fmt: skip
    read |= {form for a in words.adjectives() for form in (a.more, a.most)}
    unknown = {}
    for kind, better, worse in plain_pairs():
        first, second = (Counter(WORDS.findall(sentence.lower())) for sentence in (better, worse))
        assert better != worse and (first - second).total() <= 2, (kind, better, worse)
        assert all(re.fullmatch(r"[A-Z].*[.?!]", sentence) for sentence in (better, worse))
        unknown |= {word: better for word in WORDS.findall(better.lower()) if word not in read}
    assert unknown == {}


@LONG
@pytest.mark.parametrize("count", [2_000, *long(200_000)])
def test_no_plain_pair_is_a_training_text(count: int) -> None:
    asked = {sentence for _, *both in plain_pairs() for sentence in both}
    read = {sentence for text in stories(count, 0, version="2.0") for sentence in (*text, " ".join(text))}
    assert not sorted(asked & read)
