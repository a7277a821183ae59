"""The shelf: what opens, what does not, and what it says then."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load_file

import explorer as ex
from explorer.models import store
from explorer.models.transformer import TransformerModel


@pytest.fixture
def folder(bert: TransformerModel, tmp_path: Path) -> Path:
    return store.write(bert, tmp_path / "mine", card="# mine")


def test_shipped_models_open_by_name_and_come_with_a_card() -> None:
    shelf = ex.models()
    assert {"bert", "gpt2"} <= set(shelf)
    for name, shelved in shelf.items():
        model = ex.load(name, device="cpu")
        assert model.name == name and model.device.type == "cpu" and not model.module.training
        assert "Make it again" in (shelved.folder / "CARD.md").read_text("utf-8")


def test_a_model_is_written_and_read_back_to_the_bit(bert: TransformerModel, folder: Path) -> None:
    back = ex.load(folder, device="cpu")
    assert (back.logits("The dog ran.") == bert.logits("The dog ran.")).all()
    assert back.config == bert.config and back.tokenizer.seen == bert.tokenizer.seen
    assert sorted(p.name for p in folder.iterdir()) == [
        "CARD.md",
        "config.json",
        "model.safetensors",
        "seen.json",
        "tokenizer.json",
    ]


def test_the_same_model_is_the_same_file(bert: TransformerModel, tmp_path: Path) -> None:
    files = [store.write(bert, tmp_path / str(n)) / "model.safetensors" for n in range(6)]
    assert len({path.read_bytes() for path in files}) == 1
    weights = load_file(files[0])
    assert all((weights[name] == value).all() for name, value in store.state(bert.module).items())


def test_what_another_model_met_is_not_left_behind(bert: TransformerModel, folder: Path) -> None:
    unknown = TransformerModel("mine", bert.module, type(bert.tokenizer)(bert.tokenizer.core), "bert")
    assert ex.load(store.write(unknown, folder)).tokenizer.seen is None
    assert not (folder / "CARD.md").exists()


def test_your_own_model_opens_by_name(bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    store.write(bert, tmp_path / "models" / "ours")
    assert ex.models()["ours"].shipped is False
    assert ex.load("ours").name == "ours"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("bret", "no model 'bret'. Did you mean 'bert'"),
        ("./nowhere", "no folder nowhere"),
        ("some/where", "could not be had from the hub"),
        (3, "what=3 must be a text or a path or .*; this is int"),
    ],
)
def test_what_does_not_exist_is_named(what: object, message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        ex.load(what)  # type: ignore[arg-type]


def test_unknown_devices_presets_sizes_and_fields_are_named(bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="no device 'gpu'"):
        ex.load("bert", device="gpu")
    for arguments, message in (
        ({"name": "bret"}, "no preset 'bret'. Did you mean 'bert'"),
        ({"size": "huge"}, "no size of bert 'huge'"),
        ({"layer": 3}, "no field of bert 'layer'. Did you mean 'layers'"),
        ({"heads": "four"}, "do not fit bert|must be"),
        ({"tokenizer": "wordpiece"}, "must be a tokenizer, for example .*; this is str"),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.build(**{"name": "bert", "tokenizer": bert.tokenizer, **arguments})  # type: ignore[arg-type]
    names = "ngram transformer bert roberta distilbert spanbert electra deberta gpt gpt2 llama olmo olmo2 bart pegasus t5"
    assert set(ex.presets()) == {*names.split(), "word2vec", "glove", "elmo"}


def test_a_preset_can_be_overridden_by_keyword_and_the_seed_decides(bert: TransformerModel) -> None:
    model = ex.build("bert", tokenizer=bert.tokenizer, layers=3, heads=2, seed=5)
    assert (model.config.layers, model.config.heads, model.config.dim) == (3, 2, 64)
    again = ex.build("bert", tokenizer=bert.tokenizer, layers=3, heads=2, seed=5)
    other = ex.build("bert", tokenizer=bert.tokenizer, layers=3, heads=2, seed=6)
    assert (model.logits("dog") == again.logits("dog")).all() and (model.logits("dog") != other.logits("dog")).any()


@pytest.mark.parametrize("part", ["model.safetensors", "config.json", "tokenizer.json", "seen.json"])
@pytest.mark.parametrize("harm", ["cut", "emptied", "garbled"])
def test_a_broken_file_is_named(folder: Path, part: str, harm: str) -> None:
    path = folder / part
    content = path.read_bytes()
    path.write_bytes({"cut": content[: len(content) // 2], "emptied": b"", "garbled": b"\x80\x04\x95" + content[:40]}[harm])
    with pytest.raises(ex.ExplorerError, match=part.replace(".", r"\.")):
        ex.load(folder)


@pytest.mark.parametrize("part", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, part: str) -> None:
    (folder / part).unlink()
    with pytest.raises(ex.ExplorerError, match=part.split(".")[0]):
        ex.load(folder)


def test_weights_that_do_not_fit_are_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["architecture"]["layers"] = 3
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ex.ExplorerError, match="do not fit"):
        ex.load(folder)
    config["architecture"]["wings"] = 2
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ex.ExplorerError, match="cannot|does not describe"):
        ex.load(folder)


def test_pickled_weights_are_never_read(folder: Path) -> None:
    shutil.move(folder / "model.safetensors", folder / "pytorch_model.bin")
    with pytest.raises(ex.ExplorerError, match="never pickled"):
        ex.load(folder)


def test_another_architecture_is_refused_by_name(folder: Path) -> None:
    (folder / "config.json").write_text(
        json.dumps({"model_type": "mamba", "hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 30})
    )
    with pytest.raises(ex.ExplorerError, match="(?i)mamba"):
        ex.load(folder)


def test_a_full_disk_loses_nothing(folder: Path) -> None:
    """A process that may write no more than 50 kB a file: the model that was there stays whole."""
    before = (folder / "model.safetensors").read_bytes()
    code = f"""
import resource, signal, explorer as ex
from explorer.models import store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = ex.load({str(folder)!r}, device="cpu")
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    store.write(model, {str(folder)!r})
except ex.ExplorerError as error:
    print("said:", error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "said: Could not write the model" in run.stdout
    assert (folder / "model.safetensors").read_bytes() == before
    assert ex.load(folder).name == "mine"


def test_a_place_that_is_no_folder_is_refused(bert: TransformerModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ex.ExplorerError, match="Could not write"):
        store.write(bert, tmp_path / "file" / "model")
    with pytest.raises(ex.ExplorerError, match="Could not write"):
        ex.export(bert, tmp_path / "file" / "model")
