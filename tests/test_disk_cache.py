"""What is kept on disk: the same as what would be made, whoever else writes, however full or damaged the disk is."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import LONG
from typer.testing import CliRunner

import explorer as ex
from explorer.cli import cli
from explorer.microworld import stories
from explorer.microworld.grammar.pairing import pairs
from explorer.text import disk_cache
from explorer.text.disk_cache import cached, cached_files, empty_cache, source_mark
from explorer.text.examples import Translation, prepared, prepared_letters, prepared_pairs
from explorer.text.learning import cut_words, tokenizer, word_counts
from explorer.text.packing import PackedExamples, pack_corpus, pack_examples, pack_tokenizer, unpack_texts, unpack_tokenizer
from explorer.training import fit
from explorer.training.corpora import corpus_of, recorded_corpus

STORIES = list(stories(60, 9))
PAIRS = [Translation(pair.english, pair.french) for pair in pairs(60, 9)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(key: object, value: str) -> str:
    return cached("test", (key,), lambda: value, str.encode, bytes.decode)


def test_what_was_made_is_not_made_again_and_every_key_has_its_own() -> None:
    assert [kept(1, "a"), kept(1, "b"), kept(2, "b"), kept("1", "c")] == ["a", "a", "b", "c"]
    assert empty_cache() == 3 and kept(1, "b") == "b"


def test_a_damaged_file_is_made_again(folder: Path) -> None:
    examples = prepared(STORIES, tokenizer("bpe", map(" ".join, STORIES), size=300))
    for damage in (lambda whole: whole[: len(whole) // 2], lambda whole: b"", lambda whole: whole[:-900] + b"\0" * 900):
        cached("test", (7,), lambda: examples, pack_examples, PackedExamples)
        (path,) = folder.iterdir()
        path.write_bytes(damage(path.read_bytes()))
        again = cached("test", (7,), lambda: examples, pack_examples, PackedExamples)
        assert np.array_equal(again[0].ids, examples[0].ids)
        assert np.array_equal(PackedExamples(path.read_bytes())[59].ids, examples[59].ids)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_where_nothing_can_be_written_everything_is_made_again(
    number: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache.os, "replace", Mock(side_effect=OSError(number, os.strerror(number))))
    assert [kept(1, "a"), kept(1, "b")] == ["a", "b"]
    assert not list(folder.glob("*")), "half a file stays behind"


def test_without_a_home_everything_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_CACHE")
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError("Could not determine home directory.")))
    assert disk_cache.cache_folder() is None and [kept(1, "a"), kept(1, "b")] == ["a", "b"] and empty_cache() == 0


def test_it_stays_within_its_limit_and_what_was_used_last_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "LIMIT", 100)
    for place, key in enumerate((1, 2, 3)):
        kept(key, str(key) * 30)
        newest = max(cached_files(), key=lambda path: path.stat().st_mtime)
        os.utime(newest, (place, place))
    assert kept(1, "new") == "1" * 30, "reading marks it as used"
    kept(4, "4" * 30)
    assert sum(cached_files().values()) <= 100
    assert kept(1, "new") == "1" * 30 and kept(2, "new") == "new"


def test_many_processes_at_once_leave_whole_files(folder: Path) -> None:
    code = (
        "from explorer.text.disk_cache import cached\n"
        "for n in range(60):\n"
        "    value = cached('test', (n % 3,), lambda: chr(97 + n % 3) * 200_000, str.encode, bytes.decode)\n"
        "    assert value == chr(97 + n % 3) * 200_000\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", code], env={**os.environ}) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert sorted(cached_files().values()) == [200_000] * 3 and len(list(folder.iterdir())) == 3


def test_the_mark_of_a_folder_follows_every_change(tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "a.txt").write_text("dog")
    marks = [source_mark(tmp_path)]
    for name, content in (("words/a.txt", "cat"), ("b.py", ""), ("words/b.txt", "dog")):
        (tmp_path / name).write_text(content)
        marks.append(source_mark(tmp_path))
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    marks.append(source_mark(tmp_path))
    assert len(set(marks)) == 5


@pytest.mark.parametrize("texts", [STORIES, PAIRS], ids=["stories", "translations"])
def test_texts_come_back_as_they_were(texts: list[Any]) -> None:
    unpacked = unpack_texts(pack_corpus(texts))
    assert len(unpacked) == len(texts) and list(unpacked) == texts and unpacked[-1] == texts[-1]
    assert unpacked.translations == isinstance(texts[0], Translation)


@LONG
@pytest.mark.parametrize("kind", ["wordpiece", "byte-bpe", "unigram", "characters"])
def test_tokenizers_and_tokens_come_back_as_they_were(kind: str) -> None:
    learned = tokenizer(kind, map(" ".join, STORIES), size=900)
    again = unpack_tokenizer(pack_tokenizer(learned))
    assert again.core.to_str() == learned.core.to_str() and again.seen == learned.seen
    makers: list[Any] = [prepared_letters if kind == "characters" else prepared, prepared_pairs]
    for make, texts in zip(makers, (STORIES, PAIRS), strict=True):
        wanted = make(texts, learned)
        unpacked = PackedExamples(pack_examples(wanted))
        assert len(unpacked) == len(wanted) and unpacked[-1:][0].__class__ is wanted[0].__class__
        for example, other in zip(unpacked, wanted, strict=True):
            sides = ((example.source, other.source), (example.target, other.target)) if texts is PAIRS else ((example, other),)
            for a, b in sides:
                assert vars(a).keys() == vars(b).keys() and all(np.array_equal(vars(a)[n], vars(b)[n]) for n in vars(b))
                assert a.ids.dtype == b.ids.dtype


def test_a_second_training_takes_the_same_steps_and_makes_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def losses() -> list[dict[str, float]]:
        run = ex.fit("bert", corpus="microworld:200", steps=2, batch=4, checks=0, pieces=300, device="cpu")
        assert run.plan.corpus["name"] == "microworld:200" and run.plan.corpus["stories"] == 200
        return [dict(step.losses) for step in run]

    first = losses()
    for name in ("keeping.learned", "objectives.prepared", "corpora.with_progress"):
        monkeypatch.setattr(f"explorer.training.{name}", Mock(side_effect=AssertionError("it was made again")))
    assert losses() == first


def test_a_corpus_has_the_texts_of_its_version_and_number() -> None:
    assert list(corpus_of("microworld:30").texts) == list(stories(30, 1))
    recorded = recorded_corpus("microworld:30")
    assert recorded.base == "microworld" and list(recorded.texts) == list(stories(30, 1, version="1.0"))
    assert recorded.held(3, "test").texts == list(stories(3, 1, "test", version="1.0"))
    assert [text.target for text in corpus_of("english-french:5").texts] == [pair.french for pair in pairs(5, 1)]
    for wrong in ("microworld:0", "microworld:many", "microworld:", "microworld-7:30"):
        with pytest.raises(ex.ExplorerError, match="microworld"):
            corpus_of(wrong)


def test_the_command_says_what_is_there_and_empties_it(folder: Path) -> None:
    kept(1, "a" * 2_000_000)
    result = CliRunner().invoke(cli, ["cache"])
    assert str(folder) in result.stdout and "2.0 MB" in result.stdout
    assert "2.0 MB" in CliRunner().invoke(cli, ["cache", "--empty"]).stdout and not cached_files()


def test_a_vocabulary_grows_until_every_frequent_word_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where no number of tokens was given; the words are those that a plain count finds."""
    monkeypatch.setattr(fit, "PIECES", {"mini": 300})
    monkeypatch.setattr(fit, "WHOLE", {"mini": 6})
    run = ex.fit("gpt", size="mini", corpus="microworld:60", steps=1, batch=4, checks=0, device="cpu")
    pieces = run.model.tokenizer
    words = word_counts("bpe", (" ".join(story) for story in stories(60, 1)))
    assert not [word for word, count in cut_words(pieces, words).items() if count >= 6]
    assert 300 < pieces.core.get_vocab_size() <= 800
    with pytest.raises(ex.ExplorerError, match="still cut"):
        ex.fit("gpt", size="mini", corpus="microworld:60", steps=1, batch=4, checks=0, pieces=300, device="cpu")
