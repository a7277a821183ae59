"""Real models on the shelf: fetched from a hub of this machine, carried, and refused in one sentence where something goes wrong."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from conftest import LONG
from hub_served import Hub, asks, checkpoint, served
from huggingface_hub import constants
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

import explorer as ex
from explorer.cli import cli
from explorer.errors import FileError
from explorer.models import fetched, store
from explorer.models.hub import fetching
from explorer.models.hub.foreign import HubModel
from explorer.models.transformer import TransformerModel

TEXT = "The dog was tired."
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One that has a class of ours, and one that has none."""
    folder = tmp_path_factory.mktemp("checkpoints")
    return {
        "distilbert/distilgpt2": checkpoint("GPT2LMHeadModel", folder / "gpt2", "gpt2"),
        "org/neox": checkpoint("GPTNeoXForCausalLM", folder / "neox", "gpt2"),
    }


@pytest.fixture
def hub(checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with served() as hub:
        hub.folders |= checkpoints | {"openai-community/gpt2": checkpoints["distilbert/distilgpt2"]}
        asks(hub, monkeypatch, tmp_path / "home")
        yield hub


def typed(line: str) -> Any:
    """The command, in this process; an error of ours is raised."""
    result = CliRunner().invoke(cli, line.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def left(home: Path) -> list[str]:
    """Every file below the folder of fetched models."""
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


@LONG
def test_a_model_is_fetched_once_and_opens_by_its_name(hub: Hub, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    assert "distilgpt2" not in ex.models()
    says = typed("get distilgpt2 org/neox").stdout
    assert "ex.load('distilgpt2')" in says and "ex.load('org/neox')" in says
    for name, path in (("distilgpt2", checkpoints["distilbert/distilgpt2"]), ("org/neox", checkpoints["org/neox"])):
        model = ex.load(name, device="cpu")
        assert model.name == name and ex.models()[name].fetched and not ex.models()[name].shipped
        theirs = AutoModelForCausalLM.from_pretrained(path).eval()
        ids = model.tokens(TEXT).ids.tolist()
        with torch.no_grad():
            expected = theirs(input_ids=torch.tensor([ids])).logits[0].numpy()
        np.testing.assert_allclose(model.logits(TEXT), expected, atol=1e-5)
    assert isinstance(ex.load("distilgpt2"), TransformerModel) and isinstance(ex.load("org/neox"), HubModel)
    count = len(hub.asked)
    typed("get distilgpt2")
    for name in ("hub:distilgpt2", "distilbert/distilgpt2", "hub:org/neox"):
        assert ex.load(name, device="cpu").name == fetched.name_on_shelf(name), "no second way to the hub"
    assert len(hub.asked) == count
    assert not [path for path in left(tmp_path / "home") if ".part" in path or ".lock" in path]


@LONG
def test_the_name_of_a_shipped_model_stays_its_own(hub: Hub) -> None:
    says = typed("get gpt2").stdout
    assert "ex.load('hub:gpt2')" in says and "'gpt2' alone" in says
    assert ex.models()["gpt2"].shipped and ex.models()["hub:gpt2"].fetched
    assert ex.load("gpt2", device="cpu").tokenizer.seen is not None, "the shipped one"
    for name in ("hub:gpt2", "openai-community/gpt2"):
        real = ex.load(name, device="cpu")
        assert real.name == "hub:gpt2" and real.streams != ex.load("gpt2", device="cpu").streams


@LONG
def test_a_cut_fetch_goes_on(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 4096)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    hub.cut[WEIGHTS] = 100_000
    with pytest.raises(FileError, match="continues from there"):
        typed("get org/neox")
    assert "org/neox" not in ex.models(), "nothing half there"
    part = tmp_path / "home" / "fetched" / ".part-org--neox" / f"{WEIGHTS}{fetching.PART}"
    there = part.stat().st_size
    assert 90_000 < there <= 100_000
    hub.cut.clear()
    hub.asked.clear()
    typed("get org/neox")
    ranges = [asked for path, asked in hub.asked if path.endswith(WEIGHTS)]
    assert ranges == [f"bytes={there}-"] and not [path for path, _ in hub.asked if path.endswith("config.json")]
    assert ex.load("org/neox", device="cpu").family == "decoder"


def test_what_another_file_left_behind_is_fetched_again(hub: Hub, tmp_path: Path) -> None:
    stage = tmp_path / "home" / "fetched" / ".part-org--neox"
    stage.mkdir(parents=True)
    (stage / f"{WEIGHTS}{fetching.PART}").write_bytes(b"another revision")
    (stage / "config.json").write_text("{}")
    typed("get org/neox")
    assert ex.load("org/neox", device="cpu").family == "decoder"


@pytest.mark.parametrize("cached", [False, True])
def test_a_poisoned_file_is_refused_and_removed(cached: bool, hub: Hub, tmp_path: Path) -> None:
    hub.poisoned.add("tokenizer.json" if cached else WEIGHTS)
    with pytest.raises(FileError, match="checksum differs"):
        typed("get distilgpt2")
    assert "distilgpt2" not in ex.models()
    assert not [path for path in left(tmp_path / "home") if next(iter(hub.poisoned)) in path]
    hub.poisoned.clear()
    typed("get distilgpt2")
    assert "distilgpt2" in ex.models()


@pytest.mark.parametrize("status", [401, 403])
def test_what_is_not_there_or_gated_is_one_sentence(
    status: int, hub: Hub, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    hub.folders["org/gated"], hub.gated["org/gated"] = checkpoints["org/neox"], status
    with pytest.raises(FileError, match=r"org/gated is gated.*hf auth login"):
        typed("get org/gated")
    with pytest.raises(FileError, match=r"no model 'org/nothing' on the hub.*explorer get"):
        typed("get org/nothing")
    with pytest.raises(ex.ExplorerError, match="not a name on the hub"):
        typed("get ../../etc")
    assert fetched.fetched_models() == {}


def test_only_safetensors_are_fetched(hub: Hub, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    pickled = shutil.copytree(checkpoints["org/neox"], tmp_path / "pickled")
    torch.save({"weight": torch.zeros(1)}, pickled / "pytorch_model.bin")
    (pickled / "1_Pooling").mkdir()
    (pickled / "1_Pooling" / "config.json").write_text("{}")  # of sentence-transformers: another file of that name
    (pickled / "modeling_mine.py").write_text("raise SystemExit")
    hub.folders["org/both"] = pickled
    typed("get org/both")
    every = " ".join([*left(tmp_path / "home"), *(path for path, _ in hub.asked)])
    assert not [name for name in ("pytorch_model.bin", "1_Pooling", "modeling_mine") if name in every]
    hub.folders["org/pickled"] = shutil.copytree(pickled, tmp_path / "alone")
    (tmp_path / "alone" / WEIGHTS).unlink()
    with pytest.raises(FileError, match="pickled"):
        typed("get org/pickled")
    assert "pytorch_model.bin" not in " ".join(path for path, _ in hub.asked)


def test_a_configuration_that_does_not_fit_is_refused_before_the_weights(
    hub: Hub, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(checkpoints["org/neox"], tmp_path / "large")
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"vocab_size": 10**9}))
    hub.folders["org/large"] = folder
    with pytest.raises(FileError, match=r"org/large has vocab_size"):
        typed("get org/large")
    assert not [path for path, _ in hub.asked if path.endswith(WEIGHTS)]


def test_a_full_disk_is_one_sentence(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=200_000))
    with pytest.raises(FileError, match=r"MB are to be fetched.*0 MB free"):
        typed("get distilgpt2")
    assert not [path for path, _ in hub.asked if path.endswith(WEIGHTS)], "said before the weights are fetched"
    monkeypatch.undo()


def test_a_disk_that_fills_keeps_what_has_come(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    append = fetching._append

    def fills(file: Any, *more: Any) -> None:
        if file.name == WEIGHTS:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(file, *more)

    with monkeypatch.context() as patch:
        patch.setattr(fetching, "_append", fills)
        with pytest.raises(FileError, match=r"The disk is full.*continues from there"):
            typed("get distilgpt2")
    assert "distilgpt2" not in ex.models()
    hub.asked.clear()
    typed("get distilgpt2")
    assert [path.rpartition("/")[2] for path, _ in hub.asked if "resolve" in path] == [WEIGHTS]


@LONG
def test_two_processes_fetch_into_one_folder(hub: Hub, tmp_path: Path) -> None:
    """The second waits for the first, and fetches nothing a second time."""
    line = "from explorer.models.hub.fetching import fetch_model; print(fetch_model('org/neox'))"
    env = {**os.environ, "HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0"}
    both = [subprocess.Popen([sys.executable, "-c", line], env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    places = [process.communicate(timeout=300)[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0] and len(set(places)) == 1
    assert len([path for path, _ in hub.asked if path.endswith(WEIGHTS)]) == 1
    assert ex.load("org/neox", device="cpu").family == "decoder"


@LONG
def test_models_are_carried_to_a_room_without_network(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stick = tmp_path / "stick"
    typed("get distilgpt2")
    count = len(hub.asked)
    typed(f"get distilgpt2 --to {stick}")
    assert len(hub.asked) == count, "what is here is copied"
    typed(f"get org/neox --to {stick}")
    assert "org/neox" not in ex.models() and sorted(fetched.fetched_models(stick)) == ["distilgpt2", "org/neox"]
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "room"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    count = len(hub.asked)
    rows = json.loads(typed(f"get --from {stick} --json").stdout)
    assert [row["opens as"] for row in rows] == ["distilgpt2", "org/neox"] and len(hub.asked) == count
    assert ex.trace(ex.load("org/neox", device="cpu"), TEXT).residual < 1e-5


@LONG
def test_what_was_damaged_on_the_way_is_refused(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stick = tmp_path / "stick"
    typed(f"get distilgpt2 --to {stick}")
    weights = stick / "distilgpt2" / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-1] + b"\xff")
    with pytest.raises(FileError, match="damaged: its checksum"):
        typed(f"get --from {stick}")
    weights.unlink()
    with pytest.raises(FileError, match=f"no {WEIGHTS}"):
        typed(f"get --from {stick}")
    weights.symlink_to("/etc/hostname")
    with pytest.raises(FileError, match="is a link"):
        typed(f"get --from {stick}")
    weights.unlink()
    typed("get distilgpt2")
    shutil.copytree(fetched.folder_for("distilgpt2"), stick / "org--poisoned")
    for content in (b"[]", b'{"model_type"', b"[" * 100_000):  # with the checksum of what was put in its place
        (stick / "org--poisoned" / "config.json").write_bytes(content)
        origin = fetched.origin_of(stick / "org--poisoned")
        origin["files"]["config.json"] = hashlib.sha256(content).hexdigest()
        (stick / "org--poisoned" / fetched.ORIGIN).write_text(json.dumps(origin))
        with pytest.raises(FileError, match="config.json"):
            typed(f"get org/poisoned --from {stick}")
        assert "org/poisoned" not in ex.models(), "a model that does not open is not listed"
    shutil.rmtree(stick / "org--poisoned")
    shutil.rmtree(fetched.folder_for("distilgpt2"))
    (stick / "distilgpt2" / fetched.ORIGIN).write_text('{"files": {"../../../etc/hostname": "0"}}')
    with pytest.raises(FileError, match="damaged"):
        typed(f"get --from {stick}")
    with pytest.raises(FileError, match="no fetched model"):
        typed(f"get --from {tmp_path / 'nowhere'}")
    assert fetched.fetched_models() == {}


def test_without_a_network_nothing_is_asked_and_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *given: pytest.fail("somebody is asked"))
    assert not [name for name, stored in ex.models().items() if stored.fetched]
    rows = json.loads(typed("get --json").stdout)
    assert {row["name"] for row in rows} == set(fetched.listed_models()) and not any(row["fetched"] for row in rows)
    plain = typed("get").stdout
    assert all(model.name in plain and model.licence in plain for model in fetched.listed_models().values())
    with pytest.raises(FileError, match="HF_HUB_OFFLINE is set"):
        fetching.fetch_model("distilgpt2", Path("/tmp") / f"shelf-{os.getpid()}")
    shutil.rmtree(f"/tmp/shelf-{os.getpid()}")
    some = ("distilgpt2", "bert-base-uncased")
    for name, command in (*((name, f"`explorer get {name}`") for name in some), ("some-model", "`explorer get`")):
        with pytest.raises(ex.ExplorerError, match=rf"hub:{name} opens one, {command}"):
            ex.load(name)


SHAPES: dict[str, tuple[str, dict[str, Any], int]] = {  # published ones: the class, and the bytes of a weight in its file
    "distilbert-base-uncased": ("DistilBertForMaskedLM", {}, 4),
    "bert-base-uncased": ("BertForPreTraining", {}, 4),
    "distilroberta-base": ("RobertaForMaskedLM", {"vocab_size": 50265, "num_hidden_layers": 6, "max_position_embeddings": 514}, 4),
    "all-MiniLM-L6-v2": ("BertModel", {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}, 4),
    "distilgpt2": ("GPT2LMHeadModel", {"n_layer": 6}, 4),
    "gpt2": ("GPT2LMHeadModel", {}, 4),
    "SmolLM2-135M": ("LlamaForCausalLM", {
        "vocab_size": 49152, "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
        "intermediate_size": 1536, "tie_word_embeddings": True,
    }, 2),
    "t5-small": ("T5ForConditionalGeneration", {}, 4),
    "flan-t5-small": ("T5ForConditionalGeneration", {
        "num_heads": 6, "d_ff": 1024, "num_layers": 8, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False,
    }, 4),
}  # fmt: skip


def test_the_sizes_that_are_listed_are_those_of_the_weights() -> None:
    """The weights of the published shapes, counted; files of GPT-2 also hold the masks of its layers (1024 × 1024 each), those of T5
    1.1 a matrix of the output beside that of the input.
    """
    assert set(SHAPES) == set(fetched.listed_models())
    for name, (kind, shape, width) in SHAPES.items():
        model = getattr(transformers, kind)
        with torch.device("meta"):
            built = model(model.config_class(**shape))
        count = sum(weight.numel() for weight in built.parameters()) * width
        count += len(built.transformer.h) * 1024 * 1024 * 4 if kind == "GPT2LMHeadModel" else 0
        count += 0 if getattr(built.config, "scale_decoder_outputs", True) else built.shared.weight.numel() * width
        assert fetched.listed_models()[name].megabytes == pytest.approx(count / 1e6, rel=0.02), name


def test_a_checkpoint_of_others_is_not_read_twice(checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file says of no sum what it is, so none is computed: half of the time that opening took."""
    weights = store.read_weights(checkpoints["distilbert/distilgpt2"] / WEIGHTS)
    monkeypatch.setattr(store, "checksum", lambda weights: pytest.fail("computed for nobody"))
    again = store.read_weights(checkpoints["distilbert/distilgpt2"] / WEIGHTS)
    assert all(torch.equal(again[name], weight) for name, weight in weights.items())
    monkeypatch.undo()
    ours = {name: torch.tensor(value) for name, value in {"b": [1.5, 2.0], "a": [[0.25]]}.items()}
    digest = hashlib.sha256(b"a (1, 1) torch.float32" + np.float32([0.25]).tobytes() + b"b (2,) torch.float32")
    digest.update(np.float32([1.5, 2.0]).tobytes())
    assert store.checksum(ours) == digest.hexdigest(), "the bytes of names, shapes and numbers, as before"
