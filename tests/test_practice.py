"""A practitioner's day with runs: tables of steps, a run that is lengthened, trackers, models on the hub, faults of data that are said."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from accelerate.tracking import GeneralTracker
from conftest import LONG
from hub_served import goes_to, serving
from transformers import AutoModelForSequenceClassification, DistilBertConfig, DistilBertModel, PreTrainedTokenizerFast
from typer.testing import CliRunner

import explorer as ex
from explorer.cli import cli
from explorer.errors import ChoiceError, FileError, MissingError
from explorer.models.hub.architectures import tiny
from explorer.models.transformer import TransformerModel
from explorer.records import Steps, TrainingStep
from explorer.training.finetune.plan import NARROW_RATES, RATES, WIDE_RATES
from studies import memory

TEXTS = ex.microworld.texts(40, 1)
PLAN: dict[str, Any] = dict(corpus=TEXTS, pieces=300, batch=4, checks=2, snapshots=0, device="cpu", schedule="constant")


@pytest.fixture(scope="module")
def run_of_three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "gpt2"
    list(ex.fit("gpt2", steps=3, folder=folder, **PLAN))
    return folder


def copied(folder: Path, place: Path) -> Path:
    import shutil

    return Path(shutil.copytree(folder, place))


@LONG
def test_steps_are_a_table(run_of_three: Path) -> None:
    steps = ex.training.steps_of(run_of_three)
    table = steps.to_frame()
    assert isinstance(steps, Steps) and isinstance(steps, tuple) and list(table["step"]) == [1, 2, 3]
    np.testing.assert_array_equal(table["loss/lm"], [step.losses["lm"] for step in steps])
    measured = [step.metrics.get("perplexity", np.nan) for step in steps]
    np.testing.assert_array_equal(table["perplexity"], measured)
    assert np.isfinite(measured).any() and steps[1].to_frame().shape[0] == 1
    assert list(pd.DataFrame(list(steps))["losses"]) == [dict(step.losses) for step in steps]


def test_steps_are_drawn_as_a_list_too(run_of_three: Path) -> None:
    steps = ex.training.steps_of(run_of_three)
    assert ex.views["training"](list(steps)).to_json() == ex.views["training"](tuple(steps)).to_json()


def test_views_are_asked_which_of_them_draw_a_record(bert: TransformerModel, run_of_three: Path) -> None:
    for record in (ex.trace(bert, "A dog ran."), ex.training.steps_of(run_of_three)):
        names = ex.views.for_(record)
        assert names and all(not ex.views[name].fits(record) for name in names)
        assert all(ex.views[name].fits(record) for name in ex.views if name not in names)


def test_dictionaries_of_records_are_read_only_and_copied() -> None:
    step = TrainingStep(1, {"lm": 2.0}, 1.0)
    for change in (lambda d: d.update(lm=1.0), lambda d: d.__setitem__("lm", 1.0), lambda d: d.pop("lm"), lambda d: d.clear()):
        with pytest.raises(TypeError, match="cannot be changed"):
            change(step.losses)
    assert copy.deepcopy(step) == step == pickle.loads(pickle.dumps(step)) and step.losses == {"lm": 2.0}
    with pytest.raises(TypeError):
        copy.deepcopy(step).losses["lm"] = 1.0


def test_tasks_and_tokenizers_say_what_they_are_in_a_line(bert: TransformerModel, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("text,label\n" + "".join(f"word {n},{'ab'[n % 2]}\n" for n in range(300)))
    assert len(repr(ex.tasks.from_file(tmp_path / "mine.csv"))) < 100
    assert "3,730" in repr(bert.tokenizer) or str(bert.tokenizer.vocabulary.size) in repr(bert.tokenizer).replace(",", "")


@LONG
def test_a_run_is_lengthened(run_of_three: Path, tmp_path: Path) -> None:
    folder = copied(run_of_three, tmp_path / "longer")
    with pytest.raises(ChoiceError, match="steps=3 there, 5 here.*--resume"):
        ex.fit("gpt2", steps=5, folder=folder, **PLAN)
    first = [dict(step.losses) for step in ex.training.steps_of(folder)]
    assert [step.step for step in ex.fit("gpt2", steps=5, folder=folder, resume=True, **PLAN)] == [4, 5]
    straight = [dict(step.losses) for step in ex.fit("gpt2", steps=5, **PLAN)]
    written = [dict(step.losses) for step in ex.training.steps_of(folder)]
    assert written[:3] == first and written == straight  # where the learning rate is constant, to the same bits
    assert ex.load(folder).module is not None


@LONG
def test_a_run_is_not_shortened_and_keeps_its_other_settings(run_of_three: Path, tmp_path: Path) -> None:
    folder = copied(run_of_three, tmp_path / "same")
    before = (folder / "run.json").read_bytes()
    for steps, changed in ((2, {}), (5, {"batch": 8})):
        with pytest.raises(ChoiceError, match="holds another run"):
            ex.fit("gpt2", steps=steps, folder=folder, resume=True, **PLAN | changed)
    assert (folder / "run.json").read_bytes() == before


class Written(GeneralTracker):
    """A tracker as a user writes one: it keeps what it is given."""

    name, requires_logging_directory = "kept", False
    rows: ClassVar[list[tuple[int, dict[str, float]]]] = []

    @property
    def tracker(self) -> None:
        return None

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        self.rows.append((0, values))

    def log(self, values: dict[str, float], step: int, **_: Any) -> None:
        self.rows.append((step, values))


def test_a_tracker_gets_every_step() -> None:
    Written.rows.clear()
    steps = list(ex.fit("gpt2", steps=3, log=Written(), **PLAN))
    settings, *rows = Written.rows
    assert settings[1]["steps"] == 3 and [number for number, _ in rows] == [1, 2, 3]
    assert [values["loss/lm"] for _, values in rows] == [step.losses["lm"] for step in steps]


@LONG
def test_tensorboard_reads_what_was_logged(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    steps = list(ex.fit("gpt2", steps=3, folder=tmp_path / "run", log="tensorboard", **PLAN))
    logs = EventAccumulator(str(next((tmp_path / "run" / "logs").iterdir())))
    logs.Reload()
    scalars = logs.Scalars("loss/lm")
    assert [event.step for event in scalars] == [1, 2, 3]
    np.testing.assert_allclose([event.value for event in scalars], [step.losses["lm"] for step in steps], rtol=1e-6)


def test_trackers_that_are_unknown_or_missing_are_refused_before_the_work() -> None:
    with pytest.raises(ChoiceError, match=r"tensorboardd.*tensorboard"):
        ex.fit("gpt2", steps=3, log="tensorboardd", **PLAN)
    with pytest.raises(MissingError, match="pip install wandb"):
        ex.fit("gpt2", steps=3, log="wandb", **PLAN)


class Hub(BaseHTTPRequestHandler):
    """As much of a hub as an upload asks for: it keeps the files of a commit. Who has another token is refused."""

    files: ClassVar[dict[str, bytes]] = {}

    def do_POST(self) -> None:
        import base64

        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != "Bearer hf_right":
            return self.answer({"error": "no"}, 401)
        if self.path.endswith("/repos/create"):
            return self.answer({"url": f"http://{self.headers['Host']}/me/mine", "name": "me/mine", "id": "me/mine"})
        if "/preupload/" in self.path:
            paths = [file["path"] for file in json.loads(body)["files"]]
            return self.answer({"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in paths]})
        for line in body.splitlines():
            entry = json.loads(line)
            if entry.get("key") == "file":
                self.files[entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
        return self.answer(
            {"success": True, "commitOid": "0" * 40, "commitUrl": f"http://{self.headers['Host']}/me/mine/commit/0"}
        )

    def do_GET(self) -> None:
        self.answer({"id": "me/mine", "sha": "0" * 40, "siblings": []})

    def answer(self, what: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    Hub.files.clear()
    with serving(Hub) as address:
        goes_to(address, monkeypatch)
        yield Hub


def test_an_export_is_pushed_with_a_card(
    hub: type[Hub], gpt2: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    written = ex.export(gpt2, tmp_path / "out", push_to_hub="me/mine")
    there = {str(path.relative_to(written)): path.read_bytes() for path in written.rglob("*") if path.is_file()}
    assert {name: content for name, content in there.items() if not name.startswith(".")} == hub.files
    assert "library_name: transformers" in there[
        "README.md"
    ].decode() and f"{sum(p.numel() for p in gpt2.module.parameters()):,}" in str(there["README.md"])


def test_a_hub_that_refuses_is_said_and_the_folder_stays(
    hub: type[Hub], gpt2: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(ChoiceError, match="hf auth login"):
        ex.export(gpt2, tmp_path / "out", push_to_hub="me/mine")
    assert (tmp_path / "out" / "config.json").is_file() and not hub.files
    with pytest.raises(ChoiceError, match="user/name"):
        ex.export(gpt2, tmp_path / "out", push_to_hub="a/b/c")


@LONG
def test_a_model_without_a_class_of_ours_is_fine_tuned_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=ex.load("bert").tokenizer.core, pad_token="[PAD]", unk_token="[UNK]")
    shape = dict(vocab_size=len(tokenizer), dim=16, hidden_dim=32, n_layers=1, n_heads=2, max_position_embeddings=64)
    DistilBertModel(DistilBertConfig(**shape, sinusoidal_pos_embds=True)).save_pretrained(tmp_path / "theirs")
    tokenizer.save_pretrained(tmp_path / "theirs")
    rows = "".join(f"Anna was {word}.,{label}\n" for _ in range(20) for word, label in (("happy", "good"), ("sad", "bad")))
    (tmp_path / "mine.csv").write_text("text,label\n" + rows)
    line = ["finetune", "./theirs", "--file", "mine.csv", "--steps", "2", "--examples", "8"]
    answer = CliRunner().invoke(cli, line)
    assert answer.exit_code == 0, answer.output
    assert "on new texts" in answer.output and "no folder keeps the model" in answer.output  # its class has one more layer
    tiny("MPNetForMaskedLM", len(tokenizer)).save_pretrained(tmp_path / "theirs")
    answer = CliRunner().invoke(cli, line)
    assert answer.exit_code == 0 and "Open it with ex.load('runs/theirs-mine')" in answer.output, answer.output
    written = AutoModelForSequenceClassification.from_pretrained("runs/theirs-mine")
    assert set(written.config.id2label.values()) == {"good", "bad"}
    again = CliRunner().invoke(cli, line)
    assert isinstance(again.exception, ChoiceError) and "not empty" in str(again.exception)


@LONG
@pytest.mark.parametrize(("width", "rates"), [(32, NARROW_RATES), (128, RATES), (384, WIDE_RATES)])
def test_the_usual_rate_is_that_of_the_width_of_a_class_of_others(width: int, rates: dict[str, float]) -> None:
    tokenizer = ex.load("bert").tokenizer
    shape = dict(vocab_size=tokenizer.vocabulary.size, dim=width, hidden_dim=width, n_layers=1, n_heads=2)
    given = ex.load((DistilBertModel(DistilBertConfig(**shape)), tokenizer))
    for how in ("full", "lora", "frozen"):
        assert ex.finetune(given, task="sentiment", how=how, examples=8, steps=1).plan.rate == rates[how]


def test_faults_of_a_file_are_said(tmp_path: Path) -> None:
    rows = [("I like soup", "FOOD"), ("I like bread", "food"), ("I like rain", "sky")] * 20
    (tmp_path / "mine.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    report = ex.tasks.from_file(tmp_path / "mine.csv").report
    assert "differ in their capitals only: 'FOOD', 'food'" in report and "12 of the held-out rows are among those" in report
    (tmp_path / "good.csv").write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(60)))
    good = ex.tasks.from_file(tmp_path / "good.csv").report
    assert "capitals" not in good and "held-out rows are among" not in good


def test_texts_that_a_model_cannot_read_are_said(tmp_path: Path) -> None:
    for name, words in (("chinese", "我喜欢下雨的天气"), ("english", "Anna was happy because it was sunny.")):
        (tmp_path / f"{name}.csv").write_text(
            "text,label\n" + "".join(f"{words} {n},{'ab'[n % 2]}\n" for n in range(40)), "utf-8"
        )
    reports = {
        name: ex.finetune("bert", task=ex.tasks.from_file(tmp_path / f"{name}.csv"), examples=16, steps=1, device="cpu").report
        for name in ("chinese", "english")
    }
    assert "are unknown to bert" in reports["chinese"] and "unknown" not in reports["english"]
    bert = ex.load("bert", device="cpu")
    (note,) = ex.trace(bert, "你好，世界。").notes
    assert note.startswith("6 of 6 tokens are unknown to bert") and ex.trace(bert, "Anna 你 was happy.").notes == ()


@LONG
def test_a_file_of_texts_that_are_too_long_is_refused_with_what_cuts_them(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text(
        "text,label\n" + "".join(f"{'The dog ran. ' * 90}{n},{'ab'[n % 2]}\n" for n in range(40))
    )
    given = {"task": ex.tasks.from_file(tmp_path / "long.csv"), "examples": 16, "steps": 1, "device": "cpu"}
    with pytest.raises(ex.ExplorerError, match=r"more than the 128 tokens .* too_long='cut' \(--set too_long=cut\) keeps"):
        ex.finetune("bert", too_long="error", **given)
    assert [step.step for step in ex.finetune("bert", too_long="cut", **given)] == [1]


def test_a_folder_of_this_place_that_has_no_name_of_a_model_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_of_three: Path
) -> None:
    shutil.copytree(run_of_three, tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ex.ExplorerError, match=r"The folder mine of this place is opened by its path: \./mine\."):
        ex.load("mine")
    assert ex.load("./mine", device="cpu").streams


def test_labelled_texts_are_read_in_every_format(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"body": [f"text {n}" for n in range(30)], "mark": ["ab"[n % 2] for n in range(30)], "more": range(30)}
    )
    table.to_csv(tmp_path / "mine.csv", index=False)
    table.to_csv(tmp_path / "mine.tsv", index=False, sep="\t")
    table.to_csv(tmp_path / "mine.csv.gz", index=False)
    table.to_json(tmp_path / "mine.jsonl.gz", orient="records", lines=True)
    table.to_parquet(tmp_path / "mine.parquet")
    tasks = [ex.tasks.from_file(path, text="body", label="mark") for path in sorted(tmp_path.iterdir())]
    first = tasks[0].make(24, "train")
    assert len(tasks) == 5 and all(task.make(24, "train") == first for task in tasks) and len(first.examples) == 24
    for name, content in (
        ("cut.csv.gz", (tmp_path / "mine.csv.gz").read_bytes()[:60]),
        ("cut.parquet", b"PAR1 and nothing else"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileError, match="is not a complete"):
            ex.tasks.from_file(tmp_path / name, text="body", label="mark")
    with pytest.raises(FileError, match="no column 'label'"):
        ex.tasks.from_file(tmp_path / "mine.parquet", text="body")


def test_the_memory_of_a_training_is_what_its_tensors_take() -> None:
    for system in ("gpt2", "bert"):
        run = ex.fit(system, steps=1, **PLAN)
        list(run)
        weights, kept = memory.numbers(system, "tiny", run.model.tokenizer.vocabulary.size)
        assert weights == sum(weight.numel() for weight in run.model.module.parameters())
        assert kept == sum(value.numel() for value in run.optimiser.tensors().values() if value.dim())


def test_the_page_on_scale_has_the_computed_table() -> None:
    assert memory.table() in (Path(__file__).parent.parent / "docs" / "scale.md").read_text("utf-8")
