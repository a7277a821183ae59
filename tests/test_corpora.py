"""From files to numbers on disk: the same tokens as the tokenizer, any size, killed at any moment; and what stays on the disk trains as
it would in memory, to the bit.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import types
from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, long, quickest, some
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer as ex
from explorer import microworld
from explorer.analysis.evaluation.context import EvalData
from explorer.text import corpora, prepared
from explorer.text.examples import prepared as examples_of
from explorer.text.prepared import PreparedCorpus, corpus, prepare, sentence_starts
from explorer.text.streamed import StreamedExamples
from explorer.text.tokenizers import Tokenizer, tokenizer_in
from explorer.text.toy import toy_stories as stories
from explorer.training.checking import Checks
from explorer.training.corpora import corpus_of

STORIES = [" ".join(story) for story in stories(300, 1)]
KINDS = ("wordpiece", "byte-bpe", "bpe")


@cache
def toy(kind: str) -> Tokenizer:
    return ex.tokenizer(kind, STORIES, size=400)


@pytest.fixture(params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return toy(request.param)


def written(path: Path, texts: list[str]) -> Path:
    path.write_text("\n\n".join(texts), "utf-8")
    return path


def test_a_corpus_holds_the_pieces_of_its_documents(tokenizer: Tokenizer, tmp_path: Path) -> None:
    ready = corpus(written(tmp_path / "x.txt", STORIES), tokenizer, tmp_path / "out")
    assert len(ready) == len(STORIES) and ready.ids.dtype == np.uint16
    for number in range(0, len(STORIES), 7):
        tokens = tokenizer.encode(STORIES[number], special=False)
        assert tokenizer.decode(ready.document(number)).strip() == tokenizer.decode(tokens.ids).strip()
        lengths = [tokens.sentences.count(s) for s in range(max(tokens.sentences) + 1)]
        begin = int(ready.documents[number])
        end = begin + len(ready.document(number))
        parts = np.split(ready.ids[begin:end], [at - begin for at in ready.sentences if begin < at < end])
        assert [len(part) for part in parts][:-1] == lengths[:-1]
    assert np.array_equal(np.concatenate([ready.document(n) for n in range(len(ready))]), ready.ids)


@settings(max_examples=2000 if ALL else 200, deadline=None)
@given(text=st.text(alphabet="ab .!?\"')\n", min_size=1, max_size=40))
def test_sentences_are_those_of_the_tokenizer(text: str) -> None:
    letters = ex.tokenizer("wordpiece", ["a.!?\"')"], size=91), ex.tokenizer("byte-bpe", ["a"], size=257)
    for tokenizer in letters:  # no token holds a mark and a letter
        tokens = tokenizer.encode(text, special=False)
        starts = [n for n, (a, b) in enumerate(zip((-1, *tokens.sentences), tokens.sentences, strict=False)) if a != b]
        numbers = sentence_starts(text, [end for _, end in tokens.offsets])
        assert numbers[numbers < len(tokens)].tolist() == starts


def test_sentences_without_spaces_and_short_forms() -> None:
    def starts(text: str) -> list[int]:
        return sentence_starts(text, range(1, len(text) + 1)).tolist()

    assert starts("你好。世界！猫") == [0, 3, 6] and starts("你。") == [0, 2], "what comes next would be new"
    assert starts("Dr. Who ran. Then") == [0, 12] and starts("3.14 is. It") == [0, 8]
    assert starts('"No." He') == [0, 5] and starts("no") == [0]


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    tokenizer = toy("wordpiece")
    (tmp_path / "in" / "b").mkdir(parents=True)
    files = {"c.txt": "the cat", "a.txt": "a dog\r\n\r\nthe cow", "b/x.md": "\ufeffa goat", "b/y.txt": "", "z.png": "x"}
    for name, text in files.items():
        (tmp_path / "in" / name).write_bytes(text.encode())
    ready = corpus(tmp_path / "in", tokenizer, tmp_path / "out")
    texts = ["a dog", "the cow", "a goat", "the cat"]
    assert [tokenizer.decode(ready.document(n)) for n in range(len(ready))] == texts
    assert [text.strip() for text in corpora.documents(tmp_path / "in")] == texts


ENDLESS = ("word " * 40_000, "猫。" * 60_000, "x" * 200_000, "One line.\n" * 20_000)


@LONG
@pytest.mark.parametrize("text", ENDLESS, ids=lambda text: text[:4])
def test_one_endless_document_passes_in_stretches(text: str, tmp_path: Path) -> None:
    tokenizer = toy("byte-bpe")
    (tmp_path / "x.txt").write_text(text, "utf-8")
    stretches = list(corpora.parts(tmp_path / "x.txt")[0].stretches(0))
    assert "".join(stretch.text for stretch in stretches).rstrip() == text.rstrip()
    assert max(len(s.text.encode()) for s in stretches) <= 1 << 16 and len(stretches) > 2
    ready = corpus(tmp_path / "x.txt", tokenizer, tmp_path / "out")
    assert len(ready) == 1 and tokenizer.decode(ready.ids).rstrip() == text.rstrip()
    assert len(ready.sentences) == max(1, text.count("。") + text.count(".")) or "x" in text


def test_progress_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "BATCH", 10_000)
    path = written(tmp_path / "x.txt", STORIES)
    steps = list(prepare(path, toy("bpe"), tmp_path / "out"))
    assert len(steps) > 5 and [s.done_bytes for s in steps] == sorted({s.done_bytes for s in steps})
    assert steps[-1].share == 1 and steps[-1].tokens == len(PreparedCorpus(tmp_path / "out").ids) and steps[-1].documents == 300
    again = list(prepare(path, toy("bpe"), tmp_path / "out"))
    assert len(again) == 1 and again[0].tokens == steps[-1].tokens, "what is prepared is found"


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preparation that writes down after every few texts how far it is."""
    monkeypatch.setattr(prepared, "BATCH", 5_000)
    monkeypatch.setattr(prepared, "EVERY", 0.0)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@LONG
@pytest.mark.parametrize("stop", [0, 1, 3, 10])
def test_a_stopped_preparation_goes_on_to_the_same_bytes(stop: int, tmp_path: Path, often: None) -> None:
    (tmp_path / "in").mkdir()
    for n in range(3):
        written(tmp_path / "in" / f"{n}.txt", STORIES[100 * n : 100 * n + 100])
    whole, parts = (prepare(tmp_path / "in", toy("wordpiece"), tmp_path / name) for name in ("whole", "parts"))
    list(whole)
    list(islice(parts, stop))
    parts.close()  # type: ignore[attr-defined]
    if stop:
        with open(tmp_path / "parts" / "ids.bin", "ab") as file:
            file.write(b"half written")
        (tmp_path / "parts" / ".0123456789ab.part").write_text("{")  # of a process that was killed while it wrote
    first = next(iter(prepare(tmp_path / "in", toy("wordpiece"), tmp_path / "parts")))
    assert stop < 2 or first.tokens > 0
    list(prepare(tmp_path / "in", toy("wordpiece"), tmp_path / "parts"))
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")


SCRIPT = """
import sys
from explorer.text import prepared
from explorer.text.tokenizers import tokenizer_in
prepared.EVERY, prepared.BATCH = float(sys.argv[4]), 1 << 16
print("ready", flush=True)
for step in prepared.prepare(sys.argv[1], tokenizer_in(sys.argv[2]), sys.argv[3]):
    pass
"""


def start(source: Path, pieces: Path, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, str(source), str(pieces), str(folder), "0.05"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.stdout.close()
    return process


def killed_until_done(source: Path, pieces: Path, folder: Path, rng: random.Random, longest: float) -> int:
    for kills in range(200):
        process = start(source, pieces, folder)
        try:
            assert process.wait(longest * (0.05 + rng.random())) == 0
            return kills
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    raise AssertionError("no progress in two hundred runs")


@pytest.mark.parametrize("last", ["held.json", "corpus.json"])
def test_ended_between_the_last_text_and_the_card_nothing_is_written_twice(
    last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment at which every token is written and the folder is not yet said to be whole."""
    path, plain = written(tmp_path / "x.txt", STORIES), prepared.write_whole

    def ended(path: Path, content: str, **given: Any) -> None:
        if path.name == last:
            raise KeyboardInterrupt
        plain(path, content, **given)

    monkeypatch.setattr(prepared, "write_whole", ended)
    with pytest.raises(KeyboardInterrupt):
        list(prepare(path, toy("wordpiece"), tmp_path / "parts"))
    monkeypatch.setattr(prepared, "write_whole", plain)
    for name in ("parts", "whole"):
        list(prepare(path, toy("wordpiece"), tmp_path / name))
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


@LONG  # test_a_stopped_preparation_goes_on_to_the_same_bytes stops it in this process
def test_killed_at_any_moment_it_ends_in_the_same_bytes(tmp_path: Path) -> None:
    source = written(tmp_path / "x.txt", [" ".join(story) for story in stories(12_000, 2)])
    pieces = toy("wordpiece").save(tmp_path / "tokenizer.json")
    assert source.stat().st_size > 2_500_000
    began = time.perf_counter()
    assert start(source, pieces, tmp_path / "whole").wait() == 0
    took = time.perf_counter() - began
    for seed in range(6):
        kills = killed_until_done(source, pieces, tmp_path / f"killed{seed}", random.Random(seed), took / 3)
        assert kills > 0, "it was never killed: the test proves nothing"
        assert contents(tmp_path / f"killed{seed}") == contents(tmp_path / "whole")


PEAK = """
import os, re, resource
status = open("/proc/self/status").read() if os.path.exists("/proc/self/status") else ""
peak = re.search(r"VmHWM:\\s+(\\d+)", status)  # getrusage also counts what the process held that started this one
print(peak[1] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(not ALL, reason="two hundred megabytes take minutes: make test-all")
def test_two_hundred_megabytes_take_less_than_one_of_memory(tmp_path: Path) -> None:
    text = "\n\n".join(" ".join(story) for story in stories(20_000, 2)) + "\n\n"
    with open(tmp_path / "x.txt", "w", encoding="utf-8") as file:
        while file.tell() < 200_000_000:
            file.write(text)
    pieces = toy("wordpiece").save(tmp_path / "tokenizer.json")
    command = [sys.executable, "-c", SCRIPT + PEAK, str(tmp_path / "x.txt"), str(pieces), str(tmp_path / "out"), "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    assert int(done.stdout.split()[-1]) * 1024 < 1_000_000_000
    ready = PreparedCorpus(tmp_path / "out")
    assert len(ready.ids) > 40_000_000 and tokenizer_in(pieces).decode(ready.document(len(ready) - 1))


class Full:
    """A file on a disk that is full after some bytes."""

    def __init__(self, file: Any, room: list[int]) -> None:
        self.file, self.room = file, room

    def write(self, data: bytes) -> int:
        self.room[0] -= len(data)
        if self.room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self.file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_full_disk_is_said_and_afterwards_it_goes_on(tmp_path: Path, often: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path, plain = written(tmp_path / "x.txt", STORIES), prepared.TokenWriter.__init__

    def full(self: Any, *arguments: Any) -> None:
        plain(self, *arguments)
        room = [20_000]
        self.files = [Full(file, room) for file in self.files]

    monkeypatch.setattr(prepared.TokenWriter, "__init__", full)
    with pytest.raises(ex.ExplorerError, match="no space left"):
        list(prepare(path, toy("bpe"), tmp_path / "out"))
    monkeypatch.setattr(prepared.TokenWriter, "__init__", plain)
    first = next(iter(prepare(path, toy("bpe"), tmp_path / "out")))
    assert first.documents > 5, "it goes on where it stopped"
    corpus(path, toy("bpe"), tmp_path / "out")
    corpus(path, toy("bpe"), tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n \n", "only spaces"),
        (b"abc\0def", "zero byte"),
        (b"a" * 9000 + b"\0", "zero byte"),
        ("Smörgås".encode("latin-1"), r"not UTF-8 text: byte 2 is 0xf6"),
        (b"fine\n\nfine\n\nna\xefve", "byte 14 is 0xef"),
        ("Hello".encode("utf-16"), "UTF-16"),
    ],
)
def test_what_is_no_text_is_met_with_a_word(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(ex.ExplorerError, match=message):
        corpus(tmp_path / "x.txt", toy("bpe"), tmp_path / "out")


def test_other_mistakes_are_met_with_a_word(tmp_path: Path) -> None:
    good, other = written(tmp_path / "x.txt", STORIES[:3]), written(tmp_path / "y.txt", STORIES[3:6])
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "x.png").write_bytes(b"123")
    corpus(good, toy("bpe"), tmp_path / "out")
    for source, kind, folder, message in (
        (tmp_path / "none.txt", "bpe", "new", "no file or folder"),
        (3, "bpe", "new", "source=3 must be a text or a path"),
        (str(tmp_path / "out2"), "bpe", "new", "no file"),
        (tmp_path / "only", "bpe", "new", "no text file in"),
        (good, "bpe", "x.txt/out", "Could not write"),
        (good, "wordpiece", "out", "another tokenizer"),
        (other, "bpe", "out", "another source"),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            corpus(source, toy(kind), tmp_path / folder)  # type: ignore[arg-type]
    with open(tmp_path / "out" / "ids.bin", "ab") as file:
        file.write(b"xx")
    for name, message in (("only", "no prepared corpus"), ("out", "not whole")):
        with pytest.raises(ex.ExplorerError, match=message):
            PreparedCorpus(tmp_path / name)


class Rows:
    """A data set as the hub's library streams it."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def skip(self, count: int) -> Rows:
        return Rows(self.rows[count:])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


def test_a_hub_data_set_is_read_on_request_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ex.ExplorerError, match="pip install datasets"):
        corpus("hub:owner/name", toy("bpe"), tmp_path / "out")
    requests: list[Any] = []

    def load_dataset(*arguments: Any, **options: Any) -> Rows:
        requests.append((arguments, options))
        return Rows([{"text": story} for story in STORIES])

    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))
    ready = corpus("hub:owner/name:small", toy("bpe"), tmp_path / "hub")
    once = (("owner/name", "small"), {"split": "train", "streaming": True})
    assert requests == [once, once]  # to cut it into tokens, then for the texts that are held out
    assert len(ready) == 300 and toy("bpe").decode(ready.document(7)) == STORIES[7]
    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=lambda *a, **k: Rows([{"words": "x"}])))
    with pytest.raises(ex.ExplorerError, match="Row 1 of hub:owner/other has no field 'text'; its fields are: words"):
        corpus("hub:owner/other", toy("bpe"), tmp_path / "other")


@LONG
def test_a_large_vocabulary_takes_four_bytes(tmp_path: Path) -> None:
    words = [f"w{n}" for n in range(66_000)]
    big = ex.tokenizer("words", [" ".join(words)], size=70_000)
    ready = corpus(written(tmp_path / "x.txt", [" ".join(words)]), big, tmp_path / "out")
    assert ready.ids.dtype == np.uint32 and big.vocabulary.size > 1 << 16 and int(ready.ids.max()) > 1 << 16


ODD = [
    "One. Two! Three? " * 40,
    "word " * 300,
    "No end at all",
    "A [MASK] here. And </s> there.",
    "Naïve café. 日本語。",
    "...",
]
SMALL = {"dim": 32, "heads": 2, "hidden": 64, "batch": 6, "steps": 6, "checks": 0, "device": "cpu", "precision": "float32"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "mine.txt"
    texts = [" ".join(story) for story in microworld.stories(120, 3)]
    path.write_text("\n\n".join([*texts[:40], *ODD, *texts[40:]]), "utf-8")
    return path


def prepared_with(source: Path, name: str, folder: Path) -> Path:
    """The source, prepared with the tokenizer of a shipped model."""
    list(prepare(source, ex.load(name, device="cpu").tokenizer, folder))
    return folder


CUT = (("bert", None), ("bert", 17), ("gpt2", 61), ("t5", 17))


@LONG
@pytest.mark.parametrize(("name", "room"), some(product(("bert", "gpt2", "t5"), (None, 61, 17)), *CUT))
def test_examples_are_those_of_the_texts_in_memory(source: Path, name: str, room: int | None, tmp_path: Path) -> None:
    tokenizer = ex.load(name, device="cpu").tokenizer
    corpus = PreparedCorpus(prepared_with(source, name, tmp_path / "ready"))
    first = json.loads((corpus.folder / prepared.HELD).read_text("utf-8"))["first"]
    every = examples_of(list(corpora.documents(source))[:first], tokenizer, room)
    streamed = StreamedExamples(corpus, room)
    assert len(streamed) == len(every) > 100
    for here, there in zip(streamed, every, strict=True):
        for part in ("ids", "words", "sentences"):
            np.testing.assert_array_equal(getattr(here, part), getattr(there, part), err_msg=part)


@LONG
@pytest.mark.parametrize("name", ["gpt2", "spanbert", *long("bert", "bart")])
def test_a_run_from_the_disk_is_that_from_memory_to_the_bit(source: Path, name: str, tmp_path: Path) -> None:
    folder, tokenizer = prepared_with(source, name, tmp_path / "ready"), ex.load(name, device="cpu").tokenizer
    memory = ex.fit(name, corpus=source, tokenizer=tokenizer, **SMALL)
    disk = ex.fit(name, corpus=folder, **SMALL)  # with the tokenizer that lies there
    assert isinstance(disk.examples, StreamedExamples) and len(disk.examples) == len(memory.examples)
    assert [dict(step.losses) for step in disk] == [dict(step.losses) for step in memory]
    for weight, other in zip(disk.model.module.parameters(), memory.model.module.parameters(), strict=True):
        assert torch.equal(weight, other)


def test_the_texts_held_out_are_the_last_ones_as_they_are_written(source: Path, tmp_path: Path) -> None:
    texts_kept = corpus_of(str(prepared_with(source, "bert", tmp_path / "ready"))).held(64, "validation")
    assert texts_kept == EvalData(corpus_of(source).held(64, "validation").texts) and len(texts_kept.texts) > 0
    run = ex.fit("gpt2", corpus=prepared_with(source, "gpt2", tmp_path / "other"), **{**SMALL, "checks": 1, "steps": 2})
    assert list(run)[-1].metrics["4-gram perplexity"] > 1


def larger(folder: Path, times: int, to: Path) -> PreparedCorpus:
    """The same corpus so many times over, written without ever holding it in memory."""
    shutil.copytree(folder, to)
    card = json.loads((to / prepared.CARD).read_text("utf-8"))
    for name in (prepared.PIECES, prepared.WORDS, prepared.SENTENCES, prepared.DOCUMENTS):
        kind = {prepared.PIECES: card["dtype"], prepared.WORDS: "uint8"}.get(name, "int64")
        shift = card["tokens"] if kind == "int64" else 0
        once = np.fromfile(folder / name, kind)
        with open(to / name, "wb") as file:
            for n in range(times):
                file.write((once + np.array(shift * n).astype(kind)).tobytes())
    card |= {count: card[count] * times for count in ("tokens", "sentences", "documents")}
    (to / prepared.CARD).write_text(json.dumps(card), "utf-8")
    texts_kept = json.loads((to / prepared.HELD).read_text("utf-8"))
    (to / prepared.HELD).write_text(json.dumps(texts_kept | {"first": card["documents"] - 64}), "utf-8")
    return PreparedCorpus(to)


def test_memory_does_not_hold_the_corpus(source: Path, tmp_path: Path) -> None:
    """At most two bytes a token, so at most 200 MB for a hundred million; a text in memory takes 27 a token."""
    small = prepared_with(source, "bert", tmp_path / "ready")
    corpus = larger(small, 10_000_000 // len(PreparedCorpus(small).ids), tmp_path / "larger")
    tracemalloc.start()
    run = ex.fit("bert", corpus=corpus.folder, **{**SMALL, "steps": 1000})
    for step in (1, 500, 1000):
        run.batch(step)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(corpus.ids) > 9_000_000 and most <= 2 * len(corpus.ids), f"{most / 1e6:.0f} MB"


def test_what_counts_in_all_texts_sees_a_sample(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streamed = StreamedExamples(PreparedCorpus(prepared_with(source, "gpt2", tmp_path / "ready")), 61)
    checks = Checks(corpus_of(source), "causal", streamed)
    assert len(checks._counted()) == len(streamed)
    monkeypatch.setattr("explorer.text.streamed.COUNTED", 10)
    assert len(checks._counted()) == 10


def test_what_does_not_go_with_a_prepared_folder_is_refused(source: Path, tmp_path: Path) -> None:
    folder = prepared_with(source, "bert", tmp_path / "ready")
    tokenizer = ex.load("gpt2", device="cpu").tokenizer
    for message, name, options in (
        ("another tokenizer", "gpt2", {"tokenizer": tokenizer}),
        ("packed", "bert", {"objective": "mlm", "packed": True}),
        ("skip-gram", "word2vec", {}),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.fit(name, corpus=folder, steps=2, device="cpu", **options)
    (folder / prepared.WORDS).unlink()
    with pytest.raises(ex.ExplorerError, match="prepare the corpus again"):
        ex.fit("bert", corpus=folder, steps=2, device="cpu")


def test_preparing_is_quick(source: Path, tmp_path: Path, record_property: Any) -> None:
    """The rate is reported; on a busy machine only a tenth of it is asked for."""
    long = tmp_path / "long.txt"
    long.write_text((source.read_text("utf-8") + "\n\n") * 20, "utf-8")
    tokenizer, folders = ex.load("bert", device="cpu").tokenizer, iter(range(9))
    seconds = quickest(lambda: list(prepare(long, tokenizer, tmp_path / str(next(folders)))), 3 if ALL else 1)
    rate = len(PreparedCorpus(tmp_path / "0").ids) / seconds
    record_property("table: prepared corpora", f"{rate:,.0f} tokens a second of a processor")
    assert rate > 30_000
