"""A teacher's own file as a task: what is read, what is said about it, and what is wrong with it."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import LONG

import explorer as ex
from explorer.errors import ExplorerError, FileError
from explorer.training.finetune.labelled import draw_labelled

ROWS = [(f"Text number {n} is {'good' if n % 2 else 'bad'}.", "good" if n % 2 else "bad") for n in range(40)]


def csv_file(folder: Path, rows: list[tuple[str, ...]] = ROWS, names: str = "text,label", sign: str = ",") -> Path:
    path = folder / "reviews.csv"
    lines = [names, *(sign.join(f'"{part}"' for part in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def jsonl(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_csv_is_read_whole_and_says_so(tmp_path: Path, sign: str) -> None:
    task = ex.tasks.from_file(csv_file(tmp_path, [*ROWS, ("", "good")], f"text{sign}label", sign))
    assert task.report == (
        "reviews.csv: 40 rows read (text, label), 8 of them held out; left out: 1 empty. Labels: bad 20, good 20."
    )
    train, held_out = (draw_labelled(task, 100, split) for split in ("train", "test"))
    assert (len(train), len(held_out)) == (32, 8) and not {x.asked for x in train} & {x.asked for x in held_out}
    assert {(example.asked.text, example.label) for example in (*train, *held_out)} == set(ROWS)
    assert (
        draw_labelled(task, 10, "train", 1) != draw_labelled(task, 10, "train", 2)
        and draw_labelled(task, 8, "validation") == held_out
    )


def test_a_byte_order_mark_other_columns_and_quotes_are_no_matter(tmp_path: Path) -> None:
    path = csv_file(tmp_path, [(f"A, {n}\nand more", "x" if n % 2 else "y") for n in range(12)], "review,stars")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    task = ex.tasks.from_file(path, text="review", label="stars")
    assert any("\nand more" in example.asked.text for example in draw_labelled(task, 12, "train"))


@LONG
def test_a_model_learns_from_a_file(tmp_path: Path) -> None:
    task = ex.tasks.from_file(csv_file(tmp_path))
    run = ex.finetune("bert", task=task, examples=32, steps=40, checks=1, snapshots=0, device="cpu", folder=tmp_path / "run")
    list(run)
    assert run.score("test") > 0.9
    assert ex.load(f"{tmp_path}/run").classify(["Text number 7 is good."]) == ["good"]


def test_pairs_grades_questions_tags_and_texts(tmp_path: Path) -> None:
    rows = [
        {"a": f"One {n}", "b": f"Two {n} is here", "n": n % 5, "answer": "is here", "label": "xy"[n % 2]} for n in range(20)
    ]
    path = jsonl(tmp_path, rows)
    assert draw_labelled(ex.tasks.from_file(path, text="a", pair="b"), 5, "train")[0].asked.pair is not None
    graded = ex.tasks.from_file(path, text="a", pair="b", label="n", kind="number")
    assert graded.metric == "Spearman" and float(draw_labelled(graded, 5, "train")[0].label) >= 0
    examples = draw_labelled(ex.tasks.from_file(path, text="a", pair="b", label="answer", kind="question"), 5, "train")[0]
    assert examples.answer is not None and (examples.asked.pair or "")[slice(*examples.answer)] == "is here"
    assert ex.tasks.from_file(path, text="a", label="answer", kind="text").kind == "text"
    tags = jsonl(tmp_path, [{"text": ["Anna", "saw", "Bern"], "label": ["B-PER", "O", "B-LOC"]}] * 12)
    example = draw_labelled(ex.tasks.from_file(tags, kind="token"), 3, "train")[0]
    assert [example.asked.text[a:b] for a, b in example.asked.words] == ["Anna", "saw", "Bern"] and example.tags == (
        "B-PER",
        "O",
        "B-LOC",
    )


def test_many_rows_are_read_up_to_a_limit_and_the_report_says_so(tmp_path: Path) -> None:
    task = ex.tasks.from_file(csv_file(tmp_path), most=20)
    assert "20 rows read" in task.report and "rows after the first 20" in task.report


def test_a_million_rows_are_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("text,label\n" + "good day,a\nbad day,b\n" * 500_000, "utf-8")
    task = ex.tasks.from_file(path, most=10_000)
    assert "10,000 rows read" in task.report and "rows after the first 10,000 (most=… reads more)" in task.report
    assert len(draw_labelled(task, 50, "train")) == 50


def test_a_label_that_was_not_learned_is_one_more_error(tmp_path: Path) -> None:
    """Of a rare label none may be among the texts that are learned from; the run ends with a score, and nothing is lost."""
    task = ex.tasks.from_file(csv_file(tmp_path, [*ROWS, *((f"Odd {n}.", f"rare {n // 2}") for n in range(12))]))
    run = ex.finetune("bert", task=task, examples=8, steps=2, checks=2, snapshots=0, device="cpu")
    assert [step.step for step in run] == [1, 2]
    held_out = draw_labelled(task, 99, "test")
    strange = [example for example in held_out if example.label not in run.model.output.labels]
    assert strange and len(run.held("test", 99)) == len(held_out) and run.score("test", 99) <= 1 - len(strange) / len(held_out)
    record = ex.training.answers(run, examples=99)
    assert {example.label for example in strange} <= set(record.labels) and record.confusion.sum() == len(held_out)


def test_what_is_too_long_is_counted(tmp_path: Path) -> None:
    task = ex.tasks.from_file(csv_file(tmp_path, [*ROWS, ("word " * 400, "good"), ("word " * 300, "bad")]))
    options: dict[str, Any] = {"task": task, "examples": 60, "steps": 1, "checks": 0, "snapshots": 0, "device": "cpu"}
    many = sum(len(example.asked.text) > 900 for example in draw_labelled(task, 60, "train"))
    assert many and f"left out: {many} with more than 128 tokens (too_long='cut'" in ex.finetune("bert", **options).report
    assert f"cut to 128 tokens: {many}" in ex.finetune("bert", too_long="cut", **options).report
    with pytest.raises(ExplorerError, match="have more than the 128 tokens"):
        ex.finetune("bert", too_long="error", **options)


def test_answers_of_a_family_that_does_not_fit_a_file_say_so(tmp_path: Path) -> None:
    rows = [{"text": ["Anna", "saw"], "label": ["B-PER", "O"]}] * 12
    with pytest.raises(ExplorerError, match="Choose bert, gpt2 or elmo"):
        ex.finetune("bart", task=ex.tasks.from_file(jsonl(tmp_path, rows), kind="token"), steps=1, device="cpu")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"names": "review,label"}, "has no column 'text' .*its columns are: review, label"),
    ({"rows": ROWS[:3]}, "has 3 rows that can be used, and a task needs at least 10"),
    ({"rows": [(text, "good") for text, _ in ROWS]}, "at least two labels"),
    ({"rows": [(text, f"<b>{label}</b>") for text, label in ROWS]}, "holds HTML"),
    ({"rows": [(text, text) for text, _ in ROWS]}, "Choose the column of the classes"),
    ({"rows": [(*row, "more") for row in ROWS]}, "more fields than the first line"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ExplorerError, match=message):
        ex.tasks.from_file(csv_file(tmp_path, **given))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ("good",)}, "labels=… does not name: 'bad'"),
        ({"kind": "clas"}, "Did you mean 'class'"),
        ({"kind": "question"}, "name its column with pair"),
        ({"kind": "number"}, "0 rows that can be used.*40 label is no number"),
        ({"kind": "token"}, "not as many tags as words"),
        ({"metric": "accurate"}, "Did you mean 'accuracy'"),
        ({"encoding": "utf-99"}, "no text encoding 'utf-99'"),
    ],
)
def test_a_call_that_does_not_fit_says_why(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ExplorerError, match=message):
        ex.tasks.from_file(csv_file(tmp_path), **options)


def test_wrong_encodings_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(("text,label\n" + "".join(f"Gr\u00fc\u00dfe {n},{'ab'[n % 2]}\n" for n in range(20))).encode("latin-1"))
    with pytest.raises(ExplorerError, match="Line 2 of latin.csv is not written in utf-8.*latin-1"):
        ex.tasks.from_file(path)
    assert "Grüße 3" in {
        example.asked.text
        for split in ("train", "test")
        for example in draw_labelled(ex.tasks.from_file(path, encoding="latin-1"), 99, split)
    }
    path.write_bytes("text,label\n".encode("utf-16"))
    with pytest.raises(ExplorerError, match="UTF-8|utf-8"):
        ex.tasks.from_file(path)
    with pytest.raises(ExplorerError, match="There is no file"):
        ex.tasks.from_file(tmp_path / "nowhere.csv")


def test_broken_json_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    for content, message in (
        ('{"text": "a"', "not complete JSON"),
        ("[1, 2]", "not a JSON object"),
        ('{"text": "a"}\n', "no column 'label'"),
    ):
        path.write_text(content, "utf-8")
        with pytest.raises(ExplorerError, match=message):
            ex.tasks.from_file(path)


@LONG
def test_a_small_file_that_says_a_long_text_a_million_times_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    """Parquet writes a text once and refers to it: two megabytes of file, ten gigabytes of text."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 3_000_000, pa.int32()), pa.array(["a dog ran. " * 300]))
    pq.write_table(pa.table({"text": text, "label": text}), tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 3_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match="holds more than 128 MB"):
        ex.tasks.from_file(tmp_path / "bomb.parquet")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000, "kilobytes"
