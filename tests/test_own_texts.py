"""Texts as people have them: whatever file, table or object they lie in, they are read as the library that wrote them reads them."""

from __future__ import annotations

import gzip
import json
import random
import shlex
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import LONG, SAMPLED, some
from pyarrow import parquet
from test_corpora import contents
from typed import typed

import explorer as ex
from explorer.text import corpora, prepared, stretches
from explorer.text.prepared import prepare
from explorer.text.stretches import Layout
from explorer.text.toy import toy_stories
from explorer.training import corpora as sources
from explorer.training.corpora import corpus_of

TEXTS = [f'Text {n}: "so, it; said"\tAnna.\nA second line. {"Ü日🐶"[n % 3]}' for n in range(100)]
TABLE = pd.DataFrame({"id": range(len(TEXTS)), "text": TEXTS})


def as_lines(path: Path) -> None:
    TABLE.to_json(path, orient="records", lines=True, force_ascii=False, compression="infer")


FILES: dict[str, Callable[[Path], object]] = {
    "a.txt": lambda path: path.write_text("\n\n".join(TEXTS), "utf-8"),
    "a.md": lambda path: path.write_bytes("\r\n\r\n".join(text.replace("\n", "\r\n") for text in TEXTS).encode("utf-8-sig")),
    "a.txt.gz": lambda path: path.write_bytes(gzip.compress("\n\n".join(TEXTS).encode())),
    "a.jsonl": as_lines,
    "a.ndjson": as_lines,
    "a.JSONL.gz": lambda path: path.write_bytes(
        gzip.compress("\n".join(json.dumps({"text": text}) for text in TEXTS).encode())
    ),
    "a.json.gz": as_lines,
    "a.json": lambda path: TABLE.to_json(path, orient="records", indent=1),
    "a.csv": lambda path: TABLE.to_csv(path, index=False),
    "semicolons.csv": lambda path: TABLE.to_csv(path, index=False, sep=";", encoding="utf-8-sig"),
    "a.csv.gz": lambda path: TABLE.to_csv(path, index=False),
    "a.tsv": lambda path: TABLE.to_csv(path, index=False, sep="\t"),
    "a.parquet": lambda path: TABLE.to_parquet(path, row_group_size=30),
    "b.parquet": lambda path: TABLE.astype({"text": "category"}).to_parquet(path),
}
GIVEN: dict[str, Callable[[], Any]] = {
    "list": lambda: TEXTS,
    "generator": lambda: (text for text in TEXTS),
    "series": lambda: TABLE["text"],
    "table": lambda: TABLE,
    "array": lambda: TABLE["text"].to_numpy(),
    "rows": lambda: TABLE.to_dict("records"),
    "lines of rows": lambda: iter(TABLE.to_dict("records")),
}


def every(corpus: sources.Corpus) -> list[Any]:
    assert corpus.user_texts is not None
    return [*corpus.texts, *corpus.user_texts.held_out]


@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_the_texts_that_were_written(name: str, tmp_path: Path) -> None:
    FILES[name](tmp_path / name)
    corpus = corpus_of(tmp_path / name)
    assert every(corpus) == TEXTS
    assert [*corpus.held(9, "test").texts] == TEXTS[-2:]
    unit = "a blank line between two" if name.startswith(("a.txt", "a.md")) else "one a row"
    words = sum(len(text.split()) for text in TEXTS)
    assert corpus.report() == f"{tmp_path / name}: 100 documents ({unit}), {words:,} words, 2 held out."


@pytest.mark.parametrize("kind", GIVEN)
def test_objects_give_the_same_texts(kind: str) -> None:
    assert every(corpus_of(GIVEN[kind]())) == TEXTS


def test_a_data_set_of_the_library_is_read_row_by_row() -> None:
    """What `datasets.Dataset` is for who reads it: its rows one after the other, and the names of its columns."""
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"body": [*TEXTS, None]})
    for given in (rows, rows.to_iterable_dataset()):
        assert every(corpus_of(given, layout=Layout("body"))) == TEXTS


def test_a_folder_holds_files_of_any_kind_and_its_readme_is_none(tmp_path: Path) -> None:
    for name in ("a.txt.gz", "a.jsonl", "a.parquet"):
        FILES[name](tmp_path / name)
    (tmp_path / "README.md").write_text("About these data.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    corpus = corpus_of(tmp_path)
    assert every(corpus) == [*TEXTS, *TEXTS, *TEXTS], "by their names: a.jsonl, a.parquet, a.txt.gz"
    assert "300 documents (one a row or a blank line between two)" in corpus.report()


def test_a_bare_name_is_a_file_and_a_name_of_ours_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.txt", "mine", "toy"):
        Path(name).write_text("\n\n".join(TEXTS), "utf-8")
    assert every(corpus_of("mine.txt")) == every(corpus_of("mine")) == TEXTS
    assert list(corpus_of("toy:400").texts) == list(toy_stories(400, 1))
    with pytest.raises(ex.ExplorerError, match="no file or folder mnie.txt"):
        corpus_of("mnie.txt")


VERSES = "Verse one.\nVerse two.\n\nVerse three.\nVerse four.\n"


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        ("blank line", ["Verse one.\nVerse two.", "Verse three.\nVerse four."]),
        ("line", ["Verse one.", "Verse two.", "Verse three.", "Verse four."]),
        ("file", [VERSES.strip()]),
    ],
)
def test_what_ends_a_document_is_said(document: str, texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(VERSES)
    layout = Layout(document=document)
    assert [text.strip() for text in corpora.documents(tmp_path / "x.txt", layout)] == texts
    corpus = corpus_of(tmp_path / "x.txt", layout=layout)
    assert corpus.plan().get("document", "blank line") == document
    units = {"blank line": "a blank line between two", "line": "one a line", "file": "one a file"}
    count = f"{len(texts)} document{'s' if len(texts) > 1 else ''} ({units[document]}), 8 words"
    assert corpus.report() == f"{tmp_path / 'x.txt'}: {count}, {'1' if len(texts) > 1 else 'its end'} held out."


@LONG
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv.gz", "a.parquet", "a.txt.gz"])
def test_a_prepared_file_has_the_tokens_of_its_texts_however_often_it_stops(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "BATCH", 500)
    monkeypatch.setattr(prepared, "EVERY", 0.0)
    tokenizer = ex.tokenizer("byte-bpe", TEXTS, size=400)
    for file in (name, "a.txt"):
        FILES[file](tmp_path / file)
    list(prepare(tmp_path / "a.txt", tokenizer, tmp_path / "text"))
    steps = list(prepare(tmp_path / name, tokenizer, tmp_path / "whole"))
    assert len(steps) > 5 and all(0 < step.share <= 1 for step in steps)
    for _ in range(3):
        going = prepare(tmp_path / name, tokenizer, tmp_path / "parts")
        for _, _ in zip(range(3), going, strict=False):
            pass
        going.close()  # type: ignore[attr-defined]
    list(prepare(tmp_path / name, tokenizer, tmp_path / "parts"))
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    for part in ("ids", "documents", "sentences"):
        ready, text = (getattr(prepared.PreparedCorpus(tmp_path / place), part) for place in ("whole", "text"))
        np.testing.assert_array_equal(ready, text)
    with pytest.raises(ex.ExplorerError, match="another source"):
        ex.text.corpus(tmp_path / name, tokenizer, tmp_path / "whole", document="line")


PACKED = gzip.compress("\n\n".join(TEXTS).encode())
BROKEN: list[tuple[str, bytes, str]] = [
    ("x.txt", b"", "is empty"),
    ("x.txt.gz", gzip.compress(b" \n\n"), "holds no text"),
    ("x.txt.gz", PACKED[: len(PACKED) // 2], "not a complete gzip file"),
    ("x.txt.gz", PACKED[:40] + bytes(20) + PACKED[60:], "not a complete gzip file"),
    ("x.jsonl.gz", b"{}", "not a complete gzip file"),
    (
        "x.txt.gz",
        gzip.compress("Grüße\n".encode() * 2000 + "Grüße".encode("latin-1")),
        r"mixes encodings: .* with 4,000 letters beyond ASCII, but byte 16002 is 0xfc \(line 2,001\)\.",
    ),
    ("x.txt", b"A dog.\n" * 9 + "Grüße".encode("cp1252"), r"byte 65 is 0xfc \(line 10\)\. Name its encoding"),
    ("x.txt", "Grüße".encode("utf-16"), "UTF-16. Name it"),
    ("x.jsonl", b'{"text": "a"}\n{"text": "b"', "not a complete JSONL file: after row 1"),
    ("x.jsonl", b'{"text": "a"}\n["b"]', "Row 2 of .* is not an object"),
    ("x.jsonl", b'{"text": "a"}\n{"text": 3}', "Row 2 of .* holds an int in its field 'text'"),
    ("x.jsonl", b'{"body": "a", "id": 1}', r"Row 1 of .* has no field 'text'; its fields are: body, id\."),
    ("x.jsonl", b'{"text": "a \\ud83d"}', "Row 1 of .* half a character"),
    ("x.jsonl", b'{"text": null}', "holds no text"),
    ("x.jsonl", b"[" * 100_000, "not a complete JSONL file"),
    ("x.json", b'{"text": "a",\n "id": 3}', "not a complete JSON file"),
    ("x.jsonl", b'{"text": "a"}\n' + '{"text": "Grüße"}'.encode("latin-1"), r"byte 26 is 0xfc \(line 2\)"),
    ("x.csv", b"id,body\n1,a\n", "no field 'text'; its fields are: id, body"),
    ("x.csv", b"text\na,b\n", "more fields than there are columns"),
    ("x.csv", b'text\n"a', "not a complete CSV file"),
    ("x.csv", "text\nGrüße\n".encode("latin-1"), r"byte 7 is 0xfc \(line 2\)"),
    ("x.parquet", b"PAR1 and then nothing", "not a complete PARQUET file"),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[f"{name}, {message}" for name, _, message in BROKEN])
def test_what_cannot_be_read_is_said_in_a_sentence_and_nothing_is_written(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ex.ExplorerError, match=message) as caught:
        ex.fit("gpt2", corpus=tmp_path / name, folder=tmp_path / "run", steps=2)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_parquet_file_without_these_texts(tmp_path: Path) -> None:
    pd.DataFrame({"body": ["a"], "text": [["a", "b"]]}).to_parquet(tmp_path / "x.parquet")
    for field, message in (("words", "its fields are: body, text"), ("text", "holds a list in its field 'text'")):
        with pytest.raises(ex.ExplorerError, match=message):
            corpus_of(tmp_path / "x.parquet", layout=Layout(field))
    assert every(corpus_of(tmp_path / "x.parquet", layout=Layout("body"))) == ["a"]


def test_without_the_library_for_it_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TABLE.to_parquet(tmp_path / "x.parquet")
    for name, source in (("pyarrow", tmp_path / "x.parquet"), ("datasets", "hub:owner/name")):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ex.ExplorerError, match=f"pip install {name}"):
            corpus_of(source)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ({"train": ["a"], "test": ["b"]}, {}, "several parts: train, test. Give one of them"),
        (TABLE, {"field": "body"}, "The table has no field 'body'; its fields are: id, text"),
        ([{"text": "a"}, {"body": "b"}], {}, "Row 2 of the corpus has no field 'text'"),
        ((word for word in ("a", 3)), {}, "Text 1 of the corpus is int"),
        (iter(()), {}, "holds no text"),
        ("toy", {"field": "body"}, "say how files are read"),
        (TEXTS, {"document": "page"}, "Choose one of: blank line, line, file"),
        (TEXTS, {"field": 3}, "field=3 must be the name"),
    ],
)
def test_objects_that_are_no_texts(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        ex.fit("gpt2", corpus=given, **options)


def peak(work: Callable[[], object]) -> int:
    """The most bytes that Python held while this ran."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@LONG
@pytest.mark.parametrize(("encoding", "megabytes"), [("utf-8", 50), ("cp1252", 5)])
def test_a_line_of_fifty_megabytes_passes_in_stretches(encoding: str, megabytes: int, tmp_path: Path) -> None:
    letters = "".join(random.Random(0).choices("abcdefg ", k=49_999)) + "."
    with gzip.open(tmp_path / "x.txt.gz", "wb", compresslevel=1) as file:
        for _ in range(20 * megabytes):
            file.write(letters.encode())
    length, layout = 0, Layout(encoding=encoding)

    def read() -> None:
        nonlocal length
        length = sum(len(stretch.text) for stretch in corpora.parts(tmp_path / "x.txt.gz", layout)[0].stretches(0))

    assert peak(read) < 2_000_000 and length == megabytes * 1_000_000


def test_a_document_without_an_end_is_given_in_parts_and_bytes_that_are_no_text_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "ANYWAY", 1 << 26)  # one word a million times is packed better than a text
    with gzip.open(tmp_path / "x.txt.gz", "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"dog " * 250_000)
    sizes = list[int]()
    assert peak(lambda: sizes.extend(map(len, corpora.documents(tmp_path / "x.txt.gz")))) < 80_000_000
    assert sum(sizes) == 40_000_000 - 1 and len(sizes) == 3
    (tmp_path / "y.txt").write_bytes(b"\x80" * 70_000)
    with pytest.raises(ex.ExplorerError, match="not UTF-8"):
        list(corpora.documents(tmp_path / "y.txt"))


def bomb(path: Path) -> None:
    """A file of a few hundred kilobytes whose one row, or whose rows together, are very long."""
    if path.suffix == ".parquet":
        rows = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000), pa.array(["many words " * 10_000]))
        parquet.write_table(pa.table({"text": rows}), path)
        return
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"text": "' if "json" in path.name else b'text\n"')
        for _ in range(60):
            file.write(b"a" * 1_000_000)


ENCODED = {
    "Windows-1252": "Grüße, “Anna”",
    "utf-16": "日本 🐶 Grüße",
    "utf-16-be": "Ü🐶",
    "shift_jis": "日本語 ア",
    "gb18030": "中文 🐶",
    "koi8-r": "Привет",
}
CODED = [*product(ENCODED, ("x.txt", "x.txt.gz", "x.jsonl", "x.csv.gz"))]


@SAMPLED
@pytest.mark.parametrize(("encoding", "name"), some(CODED, *CODED[::5]))  # each encoding once, and each kind of file
def test_files_in_another_encoding_are_read_when_it_is_named(encoding: str, name: str, tmp_path: Path) -> None:
    """Longer than what is read at once, so that letters lie across its ends; prepared on the disk from any place on."""
    texts = [f"{ENCODED[encoding]} {n}." for n in range(9000)]
    content = {"txt": "\n\n".join(texts), "csv": "text\n" + "\n".join(f'"{text}"' for text in texts)}
    rows = "\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts)
    raw = content.get(name.split(".")[1], rows).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(raw, 1) if name.endswith(".gz") else raw)
    layout = Layout(encoding=encoding)
    assert every(corpus_of(tmp_path / name, layout=layout)) == texts
    part = corpora.parts(tmp_path / name, layout)[0]
    stretches = list(part.stretches(0))
    again = list(part.stretches(stretches[4000].next))
    assert [stretch.text for stretch in again] == [stretch.text for stretch in stretches[4001:]]
    assert [every.read for every in again] == sorted(every.read for every in again)
    assert again[-1].read == len((tmp_path / name).read_bytes()), "how far it is, in bytes of the file"


@pytest.mark.parametrize(
    ("encoding", "raw", "message"),
    [
        (
            "shift_jis",
            b"a" * 65_535 + "日".encode("shift_jis") + b"\n\n\x80",
            r"not written in shift_jis: byte 65539 is 0x80 \(line 3\)",
        ),
        ("utf-16-le", "Grüße\nab".encode("utf-16-le") + b"c", r"not written in utf-16-le: byte 16 is 0x63 \(line 2\)"),
        ("ascii", "Grüße".encode(), "not written in ascii: byte 2 is 0xc3"),
        ("cp1252", "Grüße".encode("utf-16"), "zero byte"),
        ("klingon", b"a", "There is no text encoding 'klingon'"),
        ("rot13", b"a", "There is no text encoding 'rot13'"),
        (3, b"a", "There is no text encoding 3"),
    ],
)
def test_a_byte_that_is_not_in_the_named_encoding_is_said(encoding: Any, raw: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(raw)
    with pytest.raises(ex.ExplorerError, match=message):
        ex.fit("gpt2", corpus=tmp_path / "x.txt", encoding=encoding)


@LONG
@pytest.mark.parametrize(
    ("name", "message"),
    [("x.jsonl.gz", "16 MB"), ("x.csv.gz", "16 MB"), ("x.parquet", "unpacks to more than 50 times its size")],
)
def test_a_small_file_that_unpacks_to_a_huge_one_takes_no_memory(name: str, message: str, tmp_path: Path) -> None:
    bomb(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 1_000_000

    def read() -> None:
        with pytest.raises(ex.ExplorerError, match=message):
            corpus_of(tmp_path / name)

    assert peak(read) < 80_000_000


def nothing(path: Path) -> None:
    """Write millions of empty rows, which hardly take a byte."""
    if path.suffix == ".parquet":
        parquet.write_table(pa.table({"text": pa.nulls(400_000, pa.string())}), path)
    else:
        first = {".csv": b"text\n", ".jsonl": b'{"text": "A dog."}\n'}.get(Path(path.stem).suffix, b"")
        path.write_bytes(gzip.compress(first + b"\n" * 1_000_000))


@LONG
@pytest.mark.parametrize("name", ["x.txt.gz", "x.jsonl.gz", "x.csv.gz", "x.parquet"])
def test_a_small_file_of_millions_of_empty_rows_is_not_read_to_its_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "ANYWAY", 1 << 18)
    nothing(tmp_path / name)
    with pytest.raises(ex.ExplorerError, match=rf"{name} unpacks to more than 50 times .* not packed, \.txt or \.jsonl"):
        list(corpora.documents(tmp_path / name))


def test_empty_rows_are_cut_in_groups_and_blank_lines_end_one_document_only(tmp_path: Path) -> None:
    groups = list(prepared.letter_groups(iter([stretches.Stretch("", 0, True)] * 200_000)))
    assert sum(map(len, groups)) == 200_000 and max(map(len, groups)) <= prepared.MOST_TOGETHER
    texts = ["a " * stretches.STRETCH, "A dog.\nA cat.", "b"]  # the first one ends where a stretch does
    (tmp_path / "x.txt").write_text("\n \n".join(f"\n\n{text}\n\n\n\n" for text in texts), "utf-8")
    assert [text.strip() for text in corpora.documents(tmp_path / "x.txt")] == [text.strip() for text in texts]
    (part,) = corpora.parts(tmp_path / "x.txt")
    every = list(part.stretches(0))
    assert len(every) < 10 and [s.text for s in part.stretches(every[2].next)] == [s.text for s in every[3:]]


def test_more_text_than_a_run_keeps_is_refused_as_soon_as_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST", 1_000_000)

    def endless() -> Iterator[str]:
        while True:
            yield "A dog ran. " * 100

    with pytest.raises(ex.ExplorerError, match=r"more than 1 MB .* ex\.text\.corpus\(source, tokenizer, folder\)"):
        corpus_of(endless())


def test_a_file_of_two_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "x.txt").open("wb") as file:
        file.truncate(2_000_000_000)  # zeros, which a reader would meet first
    with pytest.raises(ex.ExplorerError, match=r"x\.txt holds more than 200 MB of text"):
        corpus_of(tmp_path / "x.txt")


def test_a_very_long_document_is_cut_between_words_and_its_end_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LONGEST", 1000)
    text = "A dog ran home. " * 500
    corpus = corpus_of([text])
    assert "1 document, 2,000 words, its end held out" in corpus.report()
    assert "".join(corpus.texts) == text[: len("".join(corpus.texts))] and max(map(len, corpus.texts)) <= 1000
    assert " ".join((*corpus.texts, *corpus.held(1, "test").texts)).split() == text.split()
    assert len(corpus.held(1, "test").texts[0].split()) == 40, "of 500 sentences"


SMALL = {"dim": 32, "heads": 2, "hidden": 64, "batch": 4, "pieces": 300, "steps": 3, "checks": 1, "device": "cpu"}


@LONG
def test_a_run_is_the_same_from_a_table_a_generator_and_a_list(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps({"body": text}) for text in TEXTS), "utf-8")
    runs = [
        ex.fit("gpt2", corpus=tmp_path / "x.jsonl", field="body", **SMALL),
        ex.fit("gpt2", corpus=(text for text in TEXTS), **SMALL),
        ex.fit("gpt2", corpus=TEXTS, **SMALL),
    ]
    losses = [[step.losses["lm"] for step in run] for run in runs]
    assert losses[0] == losses[1] == losses[2]
    assert runs[0].report.endswith("100 documents (one a row), 1,000 words, 2 held out.") and runs[0].report in repr(runs[0])


def test_the_command_line_reads_them_and_says_what_it_read(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("\n".join(json.dumps({"body": text}) for text in TEXTS), "utf-8")
    line = "fit gpt2 --corpus mine.jsonl --field body --steps 2 --batch 4 --checks 0 --set pieces=300"
    done = typed(*shlex.split(line), folder=tmp_path)
    assert done.returncode == 0 and "mine.jsonl: 100 documents (one a row), 1,000 words, 2 held out.\n" in done.stderr, (
        done.stderr
    )
    vocabulary = json.loads((tmp_path / "runs" / "gpt2" / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    assert not [token for token in vocabulary if "body" in token or '{"' in token]
