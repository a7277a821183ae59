"""Models: what opens from the shelf, what does not and what it says then; and all kinds are siblings of one protocol."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG
from safetensors.torch import load_file
from transformers import GPT2Config, GPT2LMHeadModel

import explorer as ex
from explorer.errors import ChoiceError, FileError
from explorer.models import model as shared
from explorer.models import ngram, store
from explorer.models.elmo import ElmoModel
from explorer.models.factory import as_model
from explorer.models.hub.foreign import HubModel
from explorer.models.model import Model, TrainableModel, trainable
from explorer.models.ngram import NGram
from explorer.models.transformer import TransformerModel, transformer
from explorer.models.vectors import StaticModel
from explorer.records import SilenceHead

ROOT = Path(__file__).parent.parent
SHIPPED = {TransformerModel: "bert", ElmoModel: "elmo", StaticModel: "word2vec"}
KINDS = (*SHIPPED, HubModel, NGram)
MEMBERS = [name for name in vars(Model) if not name.startswith("_")] + list(Model.__annotations__)
FILES = ("model.safetensors", "config.json", "tokenizer.json", "seen.json")


@pytest.fixture
def folder(bert: TransformerModel, tmp_path: Path) -> Path:
    return store.write(bert, tmp_path / "mine", card="# mine")


@LONG
def test_shipped_models_open_by_name_and_come_with_a_card() -> None:
    shelf = ex.models()
    assert {"bert", "gpt2"} <= set(shelf)
    for name, shelved in shelf.items():
        model = ex.load(name, device="cpu")
        assert model.name == name and model.device.type == "cpu" and not model.module.training
        assert "Make it again" in (shelved.folder / "CARD.md").read_text("utf-8")


@LONG
def test_opening_a_model_draws_nothing() -> None:
    """Weights that a file holds are not drawn first: that took a quarter of the time, and moved the numbers of whoever draws next."""
    torch.manual_seed(3)
    wanted = torch.rand(4)
    torch.manual_seed(3)
    for name in ("bert", "elmo", "glove", "t5"):
        ex.load(name, device="cpu")
    assert torch.equal(torch.rand(4), wanted)
    code = (
        "import sys, explorer as ex; ex.load('bert', device='cpu'); print('torch._dynamo' in sys.modules)"  # a second to import
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_model_is_written_and_read_back_to_the_bit(bert: TransformerModel, folder: Path, tmp_path: Path) -> None:
    back = ex.load(folder, device="cpu")
    assert (back.logits("The dog ran.") == bert.logits("The dog ran.")).all()
    assert back.config == bert.config and back.tokenizer.seen == bert.tokenizer.seen
    assert {path.name for path in folder.iterdir()} == {"CARD.md", *FILES}
    files = [store.write(bert, tmp_path / str(n)) / "model.safetensors" for n in range(6)]
    assert len({path.read_bytes() for path in files}) == 1, "the same model is the same file"
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


def test_what_does_not_exist_is_named(bert: TransformerModel) -> None:
    refused = [
        (ex.load, {"what": "bret"}, "no model 'bret'. Did you mean 'bert'"),
        (ex.load, {"what": "./nowhere"}, "no folder nowhere"),
        (ex.load, {"what": "some/where"}, "could not be fetched from the hub"),
        (ex.load, {"what": 3}, "what=3 must be a text or a path or .*; this is int"),
        (ex.load, {"what": "bert", "device": "gpu"}, "no device 'gpu'"),
        (ex.build, {"name": "bret"}, "no preset 'bret'. Did you mean 'bert'"),
        (ex.build, {"size": "huge"}, "no size of bert 'huge'"),
        (ex.build, {"layer": 3}, "no field of bert 'layer'. Did you mean 'layers'"),
        (ex.build, {"heads": "four"}, "do not fit bert|must be"),
        (ex.build, {"tokenizer": "wordpiece"}, "There is no file wordpiece. A tokenizer is the path of a tokenizer.json"),
    ]
    usual = {ex.load: {}, ex.build: {"name": "bert", "tokenizer": bert.tokenizer}}
    for call, arguments, message in refused:
        with pytest.raises(ex.ExplorerError, match=message):
            call(**usual[call] | arguments)
    names = "ngram transformer bert roberta distilbert spanbert electra deberta gpt gpt2 llama olmo olmo2 bart pegasus t5"
    assert set(ex.presets()) == {*names.split(), "word2vec", "glove", "elmo"}


def test_a_preset_can_be_overridden_by_keyword_and_the_seed_decides(bert: TransformerModel) -> None:
    model, again, other = (ex.build("bert", tokenizer=bert.tokenizer, layers=3, heads=2, seed=seed) for seed in (5, 5, 6))
    assert (model.config.layers, model.config.heads, model.config.dim) == (3, 2, 64)
    assert (model.logits("dog") == again.logits("dog")).all() and (model.logits("dog") != other.logits("dog")).any()


DEEP = b"[" * 50_000 + b"]" * 50_000


@pytest.mark.parametrize("part", FILES)
def test_a_broken_or_missing_file_is_named(part: str, folder: Path) -> None:
    path = folder / part
    content = path.read_bytes()
    for broken in (content[: len(content) // 2], b"", b"\x80\x04\x95" + content[:40], b"3", b"[]", DEEP, b'{"words": 3}',
                   b'{"architecture": [], "explorer": 1}'):  # fmt: skip
        path.write_bytes(broken)
        with pytest.raises(FileError, match=part.replace(".", r"\.")):
            ex.load(folder)
    path.unlink()
    if part != "seen.json":
        with pytest.raises(ex.ExplorerError, match=part.split(".")[0]):
            ex.load(folder)


def test_pickled_weights_are_never_read(folder: Path) -> None:
    shutil.move(folder / "model.safetensors", folder / "pytorch_model.bin")
    with pytest.raises(ex.ExplorerError, match="never pickled"):
        ex.load(folder)


def test_another_architecture_is_refused_by_name(folder: Path) -> None:
    config = {"model_type": "mamba", "hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 30}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(ex.ExplorerError, match="(?i)mamba"):
        ex.load(folder)


@LONG  # test_a_full_disk_leaves_what_was_saved_before has writing fail in this process
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
    for write in (store.write, ex.export):
        with pytest.raises(ex.ExplorerError, match="Could not write"):
            write(bert, tmp_path / "file" / "model")


def opened(kind: type) -> Model:
    tokenizer = ex.load("gpt2").tokenizer
    if kind is NGram:
        return ngram.train(ngram.token_rows(["The dog ran.", "The cat ran."], tokenizer), tokenizer)
    if kind is HubModel:
        config = GPT2Config(vocab_size=tokenizer.vocabulary.size, n_embd=16, n_layer=1, n_head=2, n_positions=32)
        return ex.load((GPT2LMHeadModel(config).eval(), tokenizer))
    return ex.load(SHIPPED[kind], device="cpu")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_all_that_the_protocol_names(kind: type) -> None:
    assert [other for other in KINDS if issubclass(kind, other)] == [kind]
    assert {"name", "family", "tokenizer", "streams", "module", "device", "tokens", "run", "outputs_many"} <= set(MEMBERS)
    model = opened(kind)
    assert type(model) is kind and [name for name in MEMBERS if not hasattr(model, name)] == []
    assert isinstance(model.module, torch.nn.Module) and isinstance(model.device, torch.device)
    text = "The dog ran."
    tokens = model.tokens(text)
    alone, both = model.outputs(text), model.outputs_many([text, "The cat ran."])
    for name, scores in model.run(tokens, model.reads(None)).items():
        np.testing.assert_allclose(scores[0].numpy(), alone[name], atol=1e-5)
        np.testing.assert_allclose(both[0][name], alone[name], atol=1e-4)
    with pytest.raises(ChoiceError, match="takes no target"):
        model.reads("The cat ran.")
    assert isinstance(model.notes, tuple) and isinstance(model.refuses(SilenceHead("encoder", 0, 0)), str)


@pytest.mark.parametrize("kind", SHIPPED)
def test_a_kind_says_what_its_network_is_and_pickles(kind: type) -> None:
    model = opened(kind)
    assert isinstance(model, TrainableModel) and trainable(model) is model
    assert type(model.module).__name__ == kind.__annotations__["module"]
    assert type(model.config).__name__ == kind.__annotations__["config"]
    assert type(as_model(model.name, model.module, model.tokenizer, model.preset)) is kind
    again = pickle.loads(pickle.dumps(model))
    assert vars(again).keys() == vars(model).keys() and (again.name, again.config) == (model.name, model.config)


def test_other_kinds_are_refused_by_name() -> None:
    with pytest.raises(ChoiceError, match="is a ElmoModel; this takes one of our own Transformers"):
        transformer(opened(ElmoModel))
    with pytest.raises(ChoiceError, match="NGram, which cannot be trained"):
        trainable(opened(NGram))
    with pytest.raises(ChoiceError, match="not a network of this package"):
        as_model("x", torch.nn.Linear(1, 1), opened(StaticModel).tokenizer, "x")


def test_no_model_lies_about_its_types() -> None:
    """The files of the kinds need no `type: ignore`: what a class declares is what it holds."""
    for name in ("model", "transformer", "elmo", "vectors", "ngram", "factory", "store", "load"):
        assert "type: ignore" not in (ROOT / "explorer" / "models" / f"{name}.py").read_text("utf-8"), name
    assert not hasattr(shared, "TransformerModel"), "what all share knows no kind"
