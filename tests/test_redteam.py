"""What was found by people who tried to break it: each finding with a test that fails without its mend."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import tokenizers as library
import torch
from addresses import HOSTILE as ADDRESSES
from addresses import bound_keys
from conftest import ALL, LONG, SAMPLED, SENTENCE, long, some
from hostile import counted, counted_as
from opening import opened
from streamlit import net_util
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.runtime import caching
from streamlit.testing.v1 import AppTest
from streamlit.web.server import server_util
from typer.testing import CliRunner

import explorer as ex
from explorer import cli
from explorer.app import hosted, serve, streamlit_inside
from explorer.app.cached import KEPT, kept
from explorer.app.controls import model_of, stamp_of
from explorer.app.lessons import LESSONS
from explorer.app.lessons.yours.upload import Upload
from explorer.errors import ChoiceError, ExplorerError, FileError, TextError
from explorer.models import load, ngram_files, store
from explorer.models.hub import archive
from explorer.text import tokenizers
from explorer.text.examples import prepared
from explorer.text.learning import ordered
from explorer.training import jobs
from explorer.views import VIEWS, export

ROOT = Path(__file__).parent.parent


def copied(name: str, folder: Path) -> Path:
    """A shipped model in a folder that may be spoiled."""
    return shutil.copytree(store.models()[name].folder, folder / name)


def spoiled(path: Path, change: Any) -> None:
    """A JSON file with a change in it: of some fields, or what a function does to it."""
    settings = json.loads(path.read_text("utf-8"))
    settings.update(change) if isinstance(change, dict) else change(settings)
    path.write_text(json.dumps(settings), "utf-8")


@pytest.mark.parametrize(
    "shape", [{"dim": 10_000, "hidden": 40_000, "layers": 1}, {"vocab": 2**31 - 1}, {"length": 2**31 - 1}, {"layers": 2**30}]
)
def test_a_shape_larger_than_its_weights_is_refused_before_memory_is_taken(shape: dict[str, int], tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    spoiled(folder / "config.json", lambda settings: settings["architecture"].update(shape))
    unfilled = store.unfilled

    def on_meta(config: Any) -> Any:
        assert torch.get_default_device().type == "meta", "memory would be taken"
        return unfilled(config)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "unfilled", on_meta)
        with pytest.raises(FileError, match="describes"):
            ex.load(folder, device="cpu")


def replaces(pattern: dict[str, str], content: str, times: int) -> dict[str, Any]:
    step = {"type": "Replace", "pattern": pattern, "content": content}
    return {"type": "Sequence", "normalizers": [step] * times}


HOSTILE: dict[str, Any] = {
    "strings": {"normalizer": replaces({"String": "x"}, "x" * 100, 3)},
    "doubled": {"normalizer": replaces({"String": "x"}, "xx", 30)},
    "patterns": {"normalizer": replaces({"Regex": "x"}, "x" * 100, 3)},
    "nested": {"normalizer": {"type": "Sequence", "normalizers": [replaces({"String": "x"}, "xxxxx", 2)] * 3}},
    "decoder": {"decoder": {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}},
    "id": lambda settings: settings["model"]["vocab"].update(zzz=10**9),
    "added": lambda settings: settings["added_tokens"].append({**settings["added_tokens"][0], "id": 10**9, "content": "zzz"}),
    "prefix": lambda settings: settings["model"].update(continuing_subword_prefix="#" * 100_000),
}


@SAMPLED
@pytest.mark.parametrize("how", list(HOSTILE))
@pytest.mark.parametrize("theirs", [False, True])
def test_a_tokenizer_that_asks_for_too_much_is_refused(how: str, theirs: bool, tmp_path: Path) -> None:
    folder = ex.export(ex.load("bert", device="cpu"), tmp_path / "bert") if theirs else copied("bert", tmp_path)
    spoiled(folder / "tokenizer.json", HOSTILE[how])
    with pytest.raises(FileError, match="tokenizer.json"):
        ex.load(folder, device="cpu", native=False if theirs else None)
    with pytest.raises(FileError) as error:
        archive.unpack(io.BytesIO(archive.pack(folder)), tmp_path / "model", "mine.zip")
    assert str(tmp_path) not in str(error.value)


def test_a_pattern_that_gives_up_is_an_error_of_the_text(tmp_path: Path) -> None:
    path = copied("bert", tmp_path) / "tokenizer.json"
    pattern = {"pattern": {"Regex": "(x+x+)+y"}}
    spoiled(path, {"pre_tokenizer": {"type": "Split", "behavior": "Isolated", "invert": False, **pattern}})
    assert tokenizers.tokenizer_in(path).encode("a dog").texts
    for _ in range(2):
        with pytest.raises(TextError, match="gives up"):
            tokenizers.tokenizer_in(path).encode("x" * 60)
        spoiled(path, {"normalizer": {"type": "Replace", "content": "y", **pattern}})


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "byte-bpe", "words", "characters"])
@pytest.mark.parametrize("size", [1_000_001, 10**9, 10**20])
def test_a_tokenizer_of_a_billion_tokens_is_refused(kind: str, size: int) -> None:
    with pytest.raises(ChoiceError, match="at most 1,000,000"):
        ordered(kind, ["a b c"], size, "count", None, 0)


@pytest.fixture(scope="module", params=["word2vec", "glove", "elmo", "ngram"])
def without(request: pytest.FixtureRequest) -> Any:
    return counted() if request.param == "ngram" else ex.load(request.param, device="cpu")


def test_what_needs_attention_says_so(without: Any) -> None:
    for ask in (ex.damage, ex.lens, ex.visibility, ex.gradient, lambda model, text: ex.head_statistics(model, [text])):
        with pytest.raises(ChoiceError, match="has no layers of attention"):
            ask(without, "a dog ran")
    with pytest.raises(ChoiceError, match="attention"):
        ex.trace(without, "a dog ran", layers=[0])
    if without.family != "ngram":
        assert ex.trace(without, "a dog ran", layers=[]).attention == ()


@pytest.mark.parametrize("command", [["decode", "word2vec", "hi"], ["decode", "elmo", "hi"], ["trace", "word2vec", "hi"]])
def test_the_command_line_says_so_too(command: list[str]) -> None:
    assert isinstance(CliRunner().invoke(cli.cli, command).exception, ExplorerError)


def test_special_tokens_in_a_text_belong_to_no_word() -> None:
    texts, tokenizer = ex.text.classroom.toys(20), ex.load("bert", device="cpu").tokenizer
    record = ex.text.word_labels("the [SEP] dog", tokenizer, [*texts, "the [SEP] dog"], texts)
    assert record.words == ("the", "dog") and record.together("mean of all tokens").shape[0] == 2


@pytest.mark.parametrize("name", ["hub:", "hub:/etc", "hub:../x", "./" + "x" * 5000, "a/" + "b" * 5000, "/\0", "hub:a/b/c"])
def test_no_name_of_a_model_is_a_raw_error(name: str) -> None:
    with pytest.raises(ExplorerError) as error:
        ex.load(name)
    assert len(str(error.value)) < 1000
    stamp_of(model_of(name))


@pytest.mark.parametrize(
    ("lesson", "query"),
    [("yours", {"yours": "elmo"}), *long(("yours", {"yours": "word2vec"}), ("tokens", {"labelled": "the [SEP] dog"}))],
)
def test_no_page_falls_over_a_link(lesson: str, query: dict[str, str]) -> None:
    at = opened(lesson, **query)
    assert not at.exception and not at.error and at.title[0].value


@LONG
@pytest.mark.parametrize("name", ["evil/model", *long("/etc", "hub:", "./" + "x" * 5000)])
def test_a_link_alone_opens_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []

    @wraps(ex.load)
    def watched(what: Any, **given: Any) -> Any:
        loaded.append(what)
        return watched.__wrapped__(what, **given)

    monkeypatch.setattr(ex, "load", watched)
    monkeypatch.setattr(load, "load", watched)
    at = opened("yours", yours=name)
    assert not at.exception and name not in loaded
    (button,) = (button for button in at.button if button.key == "yours.open")
    button.click().run()
    assert not at.exception and not [b for b in at.button if b.key == "yours.open"]
    assert any("no" in warning.value for warning in at.warning)


def test_no_error_is_written_as_markdown() -> None:
    at = opened("elmo", word="x ![i](http://host/i) [l](http://host)")
    assert not at.exception and at.warning
    assert not [block.value for block in (*at.warning, *at.info) if re.search(r"(?<!\\)\[[^\]]*(?<!\\)\]\(", block.value)]


def test_every_error_on_a_page_is_made_plain() -> None:
    for path in (ROOT / "explorer" / "app").rglob("*.py"):
        assert not re.search(r"st\.(warning|error|info|caption|markdown)\((str\(error|error\b)", path.read_text("utf-8")), path


def queued(tmp_path: Path, count: int) -> Any:
    """A queue with so many tickets that have just come."""
    (tmp_path / jobs.QUEUE).mkdir(parents=True)
    for number in range(count):
        (tmp_path / jobs.QUEUE / f"{number:020d}-{number:012x}").touch()
    return jobs.JobQueue(tmp_path)


def test_the_queue_is_not_endless(tmp_path: Path) -> None:
    bench = queued(tmp_path, jobs.LINE)
    with pytest.raises(ChoiceError, match="in the queue already"):
        bench.begin(jobs.JobSpec("bert", "toy", 5))
    assert [path.name for path in tmp_path.iterdir()] == [jobs.QUEUE], "a refused training leaves nothing behind"


def test_a_text_to_train_on_is_kept_once_and_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.JobQueue, "go_on", lambda self, name: None)
    bench, text = jobs.JobQueue(tmp_path), "A dog ran.\nA cat ran."
    name = bench.begin(jobs.JobSpec("bert", "own", 5, plan={"batch": 4}, text=text))
    assert "dog" not in (tmp_path / name / jobs.SPEC).read_text("utf-8")
    assert bench.spec(name) == jobs.JobSpec("bert", "own", 5, plan={"batch": 4}, text=text)
    with pytest.raises(ChoiceError, match="letters"):
        bench.begin(jobs.JobSpec("bert", "own", 5, text="a " * jobs.LETTERS))


def test_who_waits_looks_only_at_those_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queued(tmp_path, 20)
    looked: list[str] = []
    monkeypatch.setattr(jobs, "_lives", lambda ticket: looked.append(ticket.name) or False)
    tickets = sorted((tmp_path / jobs.QUEUE).iterdir())
    assert not jobs.somebody_ahead(tickets[3]) and looked == [ticket.name for ticket in tickets[:3]]
    assert jobs.PAUSE >= 1


def test_a_dead_ticket_from_the_future_holds_nobody_up(tmp_path: Path) -> None:
    queued(tmp_path, 1)
    (ticket,) = (tmp_path / jobs.QUEUE).iterdir()
    assert jobs.waiting(ticket.parent) == [ticket]
    os.utime(ticket, (time.time() + 86_400,) * 2)
    assert jobs.waiting(ticket.parent) == [] and not ticket.exists()


def _training() -> None:
    from explorer.app.lessons.training import live

    live.show_live_training("A dog ran.")


def test_a_press_that_is_refused_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, order: Any) -> str:
        raise FileError("A training cannot be kept in /x (No space left on device). Make room there.")

    monkeypatch.setattr(jobs.JobQueue, "begin", full)
    at = AppTest.from_function(_training, default_timeout=60).run()
    at.button(key="live.start").click().run()
    assert not at.exception and any("No space left" in warning.value for warning in at.warning)


def test_a_full_disk_is_a_file_error_when_a_training_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *given: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "0123456789ab").mkdir()
    (tmp_path / "0123456789ab" / jobs.SPEC).write_text('{"system": "bert", "corpus": "toy", "steps": 5}', "utf-8")
    monkeypatch.setattr(Path, "touch", full)
    for ask in (jobs.JobQueue(tmp_path).stop, jobs.JobQueue(tmp_path).go_on):
        with pytest.raises(FileError, match="No space left"):
            ask("0123456789ab")


def test_no_title_holds_the_markup_of_a_name() -> None:
    drawn, bad = [], "<a href='http://host'>x</a>"
    bert, electra = ex.load("bert", device="cpu"), ex.load("electra", device="cpu")
    hidden = ex.corrupt(SENTENCE, "mlm", tokenizer=bert.tokenizer)
    guess, order = ex.guess(bert, hidden), ex.shuffle(bert, "A dog ran.")
    records = {"place": ex.places(bert, count=8), "order": order, "order-heads": order, "guess": guess, "surprises": guess,
               "detection": ex.detect(electra, SENTENCE, rate=0.3)}  # fmt: skip
    for name, view in VIEWS.items():
        record = records.get("place" if name.startswith("place-") else name)
        if record is not None and not view.fits(replace(record, model=bad)):
            drawn.append(name)
            assert "<a " not in view(replace(record, model=bad)).to_json().replace("\\u003c", "<"), name
    assert len(drawn) >= 8, drawn


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    names = ["=1", "-", "+x", "@y", "\t=1", " =1", "-0.5", "plain"]
    heat = go.Heatmap(z=[[0.5] * len(names)], name="=HYPERLINK(1)")
    axes = {"yaxis": {"ticktext": ["=2"]}, "xaxis": {"ticktext": names}}
    rows = list(csv.reader(io.StringIO(export.numbers(go.Figure(heat, axes)).decode("utf-8"), newline="")))
    cells = [row[4] for row in rows[1:]]
    assert cells == ["'=1", "'-", "'+x", "'@y", "'\t=1", "' =1", "-0.5", "plain"]
    assert {row[0] for row in rows[1:]} == {"'=HYPERLINK(1)"} and {row[2] for row in rows[1:]} == {"'=2"}


def test_nobody_outside_is_asked_for_the_address_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout=5: requests.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # put back after the test
    streamlit_inside.keep_inside()
    assert not server_util.is_url_from_allowed_origins("http://evil.example/") and requests == []
    assert server_util.is_url_from_allowed_origins("http://localhost:8501/")
    monkeypatch.setattr(net_util, "get_external_ip", lambda: requests.append("outside"))
    hosted.start.cache_clear()
    hosted.start()  # as the first page does, also under `streamlit run app.py`
    assert not server_util.is_url_from_allowed_origins("http://evil.example/") and requests == []
    started: list[str] = []
    monkeypatch.setattr(cli, "_start", lambda module, *options: started.append(module))
    monkeypatch.chdir(ROOT)
    cli.app(port=8501, open_browser=False, classroom=False, address="", settings=None)
    assert started == [serve.__name__], "before the first visitor, too"


@LONG
def test_nothing_is_advertised_on_a_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Streamlit recommends tools for programmers in a card over the page, where a browser is opened on a programmer's computer."""
    code = """
import sys
from streamlit.web import bootstrap, cli, skills
from explorer.app import serve

skills.agent_harness_present = lambda: True
bootstrap.run = lambda *given, **more: print(skills.nudge_suppression_reason("."))
sys.argv = ["streamlit", "run", "app.py", "--server.headless", "false"]
STARTED()
"""
    for started, hidden in (("cli.main", False), ("serve.main", True)):
        command = [sys.executable, "-c", code.replace("STARTED", started)]
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
        assert ("welcome_hidden" in output) is hidden, output
    monkeypatch.setattr(cli, "_start", lambda module, *options: None)
    monkeypatch.chdir(ROOT)
    cli.app(port=8501, open_browser=False, classroom=False, address="", settings=None)
    assert "http://127.0.0.1:8501/" in capsys.readouterr().out, "what Streamlit no longer says"


def test_no_error_is_offered_to_anybody_outside() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["client"]["showErrorLinks"] is False and settings["browser"]["gatherUsageStats"] is False


def test_no_visitor_empties_what_is_kept_for_all() -> None:
    calls: list[int] = []

    def make() -> int:
        calls.append(1)
        return 7

    assert kept(("redteam", "kept"), make) == 7
    caching.cache_data.clear()  # what the message "clear_cache" of any visitor does
    caching.cache_resource.clear()
    assert kept(("redteam", "kept"), make) == 7 and calls == [1]
    KEPT.drop(lambda key: key == ("redteam", "kept"))


def test_an_upload_names_no_place_on_the_server(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path)
    spoiled(folder / "config.json", lambda settings: settings["architecture"].update(dim=96))
    file: Any = io.BytesIO(archive.pack(folder))
    file.name, file.file_id = "mine.zip", "1"
    with pytest.raises(FileError) as error:
        Upload(file)
    assert "/tmp" not in str(error.value) and "explorer-" not in str(error.value) and "\n" not in str(error.value)


def test_many_blanks_are_refused_before_they_take_minutes() -> None:
    with pytest.raises(TextError, match="blanks"):
        next(iter(ex.decode(ex.load("bert", device="cpu"), "___ " * 61, "fill")))


def test_a_corpus_in_this_folder_is_read_by_its_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text("A dog ran.", "utf-8")
    with pytest.raises(ChoiceError, match="16 stories, but there are 1"):
        ex.fit("gpt2", corpus="corpus.txt")


@pytest.mark.parametrize("kind", ["WordPiece", "WordLevel", "Unigram"])
def test_a_tokenizer_without_an_unknown_token_says_so(kind: str) -> None:
    known: Any = [("dog", -1.0)] if kind == "Unigram" else {"dog": 0}
    core = library.Tokenizer(getattr(library.models, kind)(known, **({} if kind == "Unigram" else {"unk_token": "[UNK]"})))
    tokenizer = tokenizers.Tokenizer(core)
    assert kind == "Unigram" or tokenizer.encode("dog").texts == ("dog",)
    with pytest.raises(TextError, match="cannot read this text.*(Missing|missing)"):
        tokenizer.encode("zebra")
    with pytest.raises(TextError, match="cannot read these texts"):
        prepared([["zebra", "dog"]], tokenizer)


def test_texts_are_cut_where_what_the_library_raises_is_said() -> None:
    """A plain `Exception` or a panic of `tokenizers` is an error of the text, wherever a text is read."""
    direct = [path.name for path in (ROOT / "explorer").rglob("*.py") if "core.encode" in path.read_text("utf-8")]
    assert direct == ["tokenizers.py"]


def test_marks_with_more_ids_than_texts_and_an_unknown_token_that_is_unknown_are_said(tmp_path: Path) -> None:
    path = copied("bert", tmp_path) / "tokenizer.json"
    spoiled(path, lambda settings: settings["post_processor"]["special_tokens"]["[SEP]"].update(ids=[3, 3]))
    with pytest.raises(TextError, match="its post_processor is damaged"):
        tokenizers.tokenizer_in(path).encode("a dog")
    folder = ex.export(ex.load("t5", device="cpu"), tmp_path / "t5")
    spoiled(folder / "tokenizer_config.json", {"unk_token": ""})
    with pytest.raises(ExplorerError, match="its unknown token is none of its tokens|cannot be read"):
        ex.load(folder, native=False, device="cpu")


def test_the_methods_of_a_tokenizer_and_of_a_record_refuse_in_one_line(tmp_path: Path) -> None:
    gpt2, record = ex.load("gpt2", device="cpu"), ex.places("rope")
    tokenizer = gpt2.tokenizer
    calls: list[tuple[Any, ...]] = [
        (tokenizer.encode, "a", None, []), (tokenizer.encode, 5), (tokenizer.encode, "a", 5), (tokenizer.decode, 5),
        (tokenizer.decode, [2**70]), (tokenizer.decode, [0], "x"), (tokenizer.text_of, 2**63), (tokenizer.text_of, -1),
        (tokenizer.text_of, [0]), (tokenizer.word_of, 3), (tokenizer.save, None), (tokenizer.save, "\udfff"), (record.write, None),
        (record.write, "\udfff"), (record.write, "a\0b"), (type(record).read, None), (type(record).read, "\udfff"),
        (record.write, "/"), (record.write, tmp_path), (record.to_frame, bytearray(b"x")), (gpt2.outputs_many, float("-inf")),
        (tokenizer.plain, -2), (tokenizer.plain, [0]), (tokenizer.coded, "a", None, "x"), (gpt2.tokens, np.array(1.5)),
        (gpt2.outputs_many, ["a"], 100), (gpt2.outputs_many, ["a"], [None, None]),
        (ex.trace(gpt2, "A dog").to_frame, bytearray(b"x")), (ex.trace(gpt2, "A dog").attention[0].stage, np.zeros((2, 3)), 0),
    ]  # fmt: skip
    for method, *given in calls:
        with pytest.raises(ExplorerError) as error:
            method(*given)
        assert "\n" not in str(error.value), given
    assert tokenizer.text_of(np.int64(5)) == tokenizer.text_of(5) and tokenizer.decode(iter([5])) == tokenizer.decode([5])


@pytest.mark.parametrize("content", ["letters = " + "9" * 6000, "a = " + "[" * 5000, "letters = [", "\0"])
def test_settings_that_are_no_toml_are_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "room.toml").write_text(content, "utf-8")
    with pytest.raises(FileError, match="cannot be read as a TOML file") as error:
        hosted.opened(tmp_path / "room.toml", "127.0.0.1", 1)
    assert "\n" not in str(error.value)


def test_what_is_counted_before_it_is_built() -> None:
    """Two billion layers and a billion texts are refused at once."""
    began = time.monotonic()
    with pytest.raises(ChoiceError, match="layers=2147483647 must be at most"):
        ex.build("gpt2", tokenizer=ex.load("gpt2", device="cpu").tokenizer, layers=2**31 - 1)
    with pytest.raises(ChoiceError, match="must be a text or a list, each a text"):
        ex.decoding.score_texts(range(10**9), ["a"])  # type: ignore[arg-type]
    assert time.monotonic() - began < 20


def test_a_file_of_labels_is_asked_for_with_what_it_can_take(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text,label\n" + "A dog ran.,good\nA cat sat.,bad\n" * 20, "utf-8")
    wrong: list[dict[str, Any]] = [
        {"most": [3]}, {"most": -(2**63)}, {"most": 0}, {"labels": 4}, {"encoding": {}}, {"encoding": "hex"}, {"encoding": "a\0"},
        {"kind": []}, {"metric": 3}, {"seed": -1}, {"text": None}, {"pair": 3},
    ]  # fmt: skip
    for given in wrong:
        with pytest.raises(ExplorerError) as error:
            ex.tasks.from_file(tmp_path / "x.csv", **given)
        assert "\n" not in str(error.value), given
    assert ex.tasks.from_file(tmp_path / "x.csv", most=np.int64(40)).report


def test_counts_that_cannot_be_read_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ngram_files.write(counted(), tmp_path / "ngram")

    def broken(path: Path) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", broken)
    with pytest.raises(FileError, match="cannot be read .Input/output error"):
        ngram_files.read_ngram(folder)


@LONG
@pytest.mark.parametrize("lesson", some(LESSONS, "tokens", "whatif"))
def test_no_value_in_an_address_ends_a_page(lesson: str) -> None:
    """Every key that any part of a lesson binds, with what is empty, infinite, endless or no text at all."""
    keys = bound_keys(opened(lesson, part="all"))
    assert keys, lesson
    for given in ADDRESSES if ALL else ADDRESSES[:2]:
        value = given.encode("utf-8", "surrogatepass").decode(
            "utf-8", "replace"
        )  # as a server reads half a letter of an address
        with counted_as("pages with hostile addresses"):
            at = opened(lesson, **{"part": "all", **dict.fromkeys(keys, value)})
            assert not at.exception and at.title[0].value, (lesson, value, at.exception[0].value)


@LONG
def test_a_control_reads_what_it_cannot_use_as_if_nothing_was_said() -> None:
    """A browser may send anything for a control; each then holds what it began with."""
    at = opened("tokens", kind="", way="none")
    number = NumberInputSerde(3, NumberInput.INT, 0, 9)
    for value in (float("inf"), float("nan"), "x", [1], 10):
        assert number.deserialize(value) == 3  # type: ignore[arg-type]
    assert number.deserialize(5) == 5
    assert not at.exception and {group.value for group in at.get("button_group")} >= {"WordPiece", "by count"}


def test_an_array_without_dimensions_a_record_with_tokens_and_a_table_as_a_stream_are_refused_in_a_sentence() -> None:
    bert = ex.load("bert", device="cpu")
    trace = ex.trace(bert, "A dog ran.")
    for tried in (
        lambda: bert.outputs_many(torch.tensor(2.5)),  # type: ignore[arg-type]
        lambda: bert.outputs_many(np.array(2.5)),  # type: ignore[arg-type]
        lambda: ex.decoding.contest(trace, ["A dog ran."]),
        lambda: ex.decoding.contest(ex.lens(bert, "A dog ran."), ["A dog ran."]),
        lambda: ex.analysis.smoothed_targets(bert, ["dog", "dog"]),  # type: ignore[arg-type]
        lambda: trace.axes(pd.DataFrame({"a": [0]})),  # type: ignore[arg-type]
        lambda: ex.tokenizer("wordpiece", torch.tensor(1), size=50),  # type: ignore[arg-type]
    ):
        with pytest.raises(ExplorerError) as refused:
            tried()
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    steered = [
        ex.trace(bert, "A dog ran.", edits=[ex.AddVector("encoder", 1, values)]) for values in ((1.0,) * 128, np.ones(128))
    ]  # type: ignore[arg-type]
    assert np.array_equal(*(found.hidden["encoder"][-1] for found in steered)), "a list of numbers is a vector, too"
