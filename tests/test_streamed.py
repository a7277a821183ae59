"""A corpus that stays on the disk trains as it would in memory, to the bit, and takes little memory however large it is."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import quickest

import explorer as ex
from explorer.analysis.evaluation.context import EvalData
from explorer.microworld import stories
from explorer.text.corpora import documents
from explorer.text.examples import prepared
from explorer.text.prepared import CARD, DOCUMENTS, HELD, PIECES, SENTENCES, WORDS, PreparedCorpus, prepare
from explorer.text.streamed import StreamedExamples
from explorer.training.checking import Checks
from explorer.training.corpora import corpus_of

ODD = [
    "One. Two! Three? " * 40,
    "word " * 300,
    "No end at all",
    "A [MASK] here. And </s> there. So.",
    "Ümlaut, café. 日本語。",
    "...",
]
SMALL = {"dim": 32, "heads": 2, "hidden": 64, "batch": 6, "steps": 6, "checks": 0, "device": "cpu", "precision": "float32"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "mine.txt"
    documents = [" ".join(story) for story in stories(120, 3)]
    path.write_text("\n\n".join([*documents[:40], *ODD, *documents[40:]]), "utf-8")
    return path


def ready(source: Path, name: str, folder: Path) -> Path:
    """The source, prepared with the tokenizer of a shipped model."""
    list(prepare(source, ex.load(name, device="cpu").tokenizer, folder))
    return folder


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
@pytest.mark.parametrize("room", [None, 61, 17])
def test_examples_are_those_of_the_texts_in_memory(source: Path, name: str, room: int | None, tmp_path: Path) -> None:
    tokenizer = ex.load(name, device="cpu").tokenizer
    corpus = PreparedCorpus(ready(source, name, tmp_path / "ready"))
    every = prepared(list(documents(source))[: json.loads((corpus.folder / HELD).read_text("utf-8"))["first"]], tokenizer, room)
    streamed = StreamedExamples(corpus, room)
    assert len(streamed) == len(every) > 100
    for here, there in zip(streamed, every, strict=True):
        for part in ("ids", "words", "sentences"):
            np.testing.assert_array_equal(getattr(here, part), getattr(there, part), err_msg=part)


@pytest.mark.parametrize("name", ["bert", "gpt2", "spanbert", "bart"])
def test_a_run_from_the_disk_is_that_from_memory_to_the_bit(source: Path, name: str, tmp_path: Path) -> None:
    folder, tokenizer = ready(source, name, tmp_path / "ready"), ex.load(name, device="cpu").tokenizer
    memory = ex.fit(name, corpus=source, tokenizer=tokenizer, **SMALL)
    disk = ex.fit(name, corpus=folder, **SMALL)  # with the tokenizer that lies there
    assert isinstance(disk.stories, StreamedExamples) and len(disk.stories) == len(memory.stories)
    assert [dict(step.losses) for step in disk] == [dict(step.losses) for step in memory]
    for weight, other in zip(disk.model.module.parameters(), memory.model.module.parameters(), strict=True):
        assert torch.equal(weight, other)


def test_the_texts_held_out_are_the_last_ones_as_they_are_written(source: Path, tmp_path: Path) -> None:
    texts_kept = corpus_of(str(ready(source, "bert", tmp_path / "ready"))).held(64, "validation")
    assert texts_kept == EvalData(corpus_of(source).held(64, "validation").texts) and len(texts_kept.texts) > 0
    run = ex.fit("gpt2", corpus=ready(source, "gpt2", tmp_path / "other"), **{**SMALL, "checks": 1, "steps": 2})
    assert list(run)[-1].metrics["4-gram perplexity"] > 1


def larger(folder: Path, times: int, to: Path) -> PreparedCorpus:
    """The same corpus so many times over, written without ever holding it in memory."""
    shutil.copytree(folder, to)
    card = json.loads((to / CARD).read_text("utf-8"))
    for name, shift in ((PIECES, 0), (WORDS, 0), (SENTENCES, card["tokens"]), (DOCUMENTS, card["tokens"])):
        kind = {PIECES: card["dtype"], WORDS: "uint8"}.get(name, "int64")
        once = np.fromfile(folder / name, kind)
        with open(to / name, "wb") as file:
            for n in range(times):
                file.write((once + np.array(shift * n).astype(kind)).tobytes())
    card |= {count: card[count] * times for count in ("tokens", "sentences", "documents")}
    (to / CARD).write_text(json.dumps(card), "utf-8")
    texts_kept = json.loads((to / HELD).read_text("utf-8"))
    (to / HELD).write_text(json.dumps(texts_kept | {"first": card["documents"] - 64}), "utf-8")
    return PreparedCorpus(to)


def test_memory_does_not_hold_the_corpus(source: Path, tmp_path: Path) -> None:
    """At most two bytes a token, so at most 200 MB for a hundred million; a text in memory takes 27 a token."""
    small = ready(source, "bert", tmp_path / "ready")
    corpus = larger(small, 10_000_000 // len(PreparedCorpus(small).ids), tmp_path / "larger")
    tracemalloc.start()
    run = ex.fit("bert", corpus=corpus.folder, **{**SMALL, "steps": 1000})
    for step in (1, 500, 1000):
        run.batch(step)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(corpus.ids) > 9_000_000 and most <= 2 * len(corpus.ids), f"{most / 1e6:.0f} MB"


def test_what_counts_in_all_texts_sees_a_sample(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streamed = StreamedExamples(PreparedCorpus(ready(source, "gpt2", tmp_path / "ready")), 61)
    checks = Checks(corpus_of(source), "causal", streamed)
    assert len(checks._counted()) == len(streamed)
    monkeypatch.setattr("explorer.text.streamed.COUNTED", 10)
    assert len(checks._counted()) == 10


def test_what_does_not_go_with_a_prepared_folder_is_refused(source: Path, tmp_path: Path) -> None:
    folder = ready(source, "bert", tmp_path / "ready")
    refused: list[tuple[str, dict[str, Any]]] = [
        ("another tokenizer", {"what": "gpt2", "tokenizer": ex.load("gpt2", device="cpu").tokenizer}),
        ("packed", {"what": "bert", "objective": "mlm", "packed": True}),
        ("skip-gram", {"what": "word2vec"}),
    ]
    for message, options in refused:
        with pytest.raises(ex.ExplorerError, match=message):
            ex.fit(corpus=folder, steps=2, device="cpu", **options)
    (folder / WORDS).unlink()
    with pytest.raises(ex.ExplorerError, match="prepare the corpus again"):
        ex.fit("bert", corpus=folder, steps=2, device="cpu")


def test_preparing_is_quick(source: Path, tmp_path: Path, record_property: Any) -> None:
    """The rate is reported; on a busy machine only a tenth of it is asked for."""
    long = tmp_path / "long.txt"
    long.write_text((source.read_text("utf-8") + "\n\n") * 20, "utf-8")
    tokenizer, folders = ex.load("bert", device="cpu").tokenizer, iter(range(9))
    seconds = quickest(lambda: list(prepare(long, tokenizer, tmp_path / str(next(folders)))), 3)
    rate = len(PreparedCorpus(tmp_path / "0").ids) / seconds
    record_property("table: prepared corpora", f"{rate:,.0f} tokens a second of a processor")
    assert rate > 30_000
