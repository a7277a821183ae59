"""Checkpoints as people have them: in several files, with another tokenizer file, with settings of their own, pickled, or adapters.

Each opens as transformers itself opens it, or is refused with a command; the command is then run, and what it makes opens.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG
from peft import AutoPeftModelForCausalLM, LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

import explorer as ex
from explorer.models.hub.foreign import HubModel
from explorer.models.transformer import TransformerModel

TEXT = "The dog was tired."
CLASSES = {"bert": AutoModelForMaskedLM, "llama": AutoModelForCausalLM, "gpt2": AutoModelForCausalLM}


def exported(name: str, folder: Path) -> Path:
    return ex.export(ex.load(name, device="cpu"), folder)


def sharded(name: str, folder: Path) -> Path:
    """The same checkpoint with its weights in several files."""
    exported(name, folder)
    module = CLASSES[name].from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    module.save_pretrained(folder, max_shard_size="200KB")
    assert not (folder / "model.safetensors").exists() and len(list(folder.glob("model-*.safetensors"))) > 1
    return folder


def scores(folder: Path, kind: Any, ids: list[int]) -> np.ndarray:
    """What transformers itself says."""
    with torch.no_grad():
        return np.asarray(kind.from_pretrained(folder).eval()(input_ids=torch.tensor([ids])).logits[0].numpy())


@LONG
@pytest.mark.parametrize("name", CLASSES)
def test_weights_in_several_files_open_by_themselves(name: str, tmp_path: Path) -> None:
    folder = sharded(name, tmp_path / name)
    model = ex.load(folder, device="cpu")
    assert isinstance(model, HubModel) and model.notes == ()
    ids = model.tokens(TEXT).ids.tolist()
    np.testing.assert_allclose(model.logits(TEXT), scores(folder, CLASSES[name], ids), atol=1e-4)
    np.testing.assert_allclose(model.logits(TEXT), ex.load(name, device="cpu").logits(ids), atol=1e-4)
    with pytest.raises(ex.ExplorerError, match=r"several files.*Leave native out"):
        ex.load(folder, native=True)


def test_a_whole_checkpoint_still_opens_as_ours(tmp_path: Path) -> None:
    assert isinstance(ex.load(exported("llama", tmp_path / "llama"), device="cpu"), TransformerModel)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = sharded("llama", tmp_path / "llama")
    sorted(folder.glob("model-*.safetensors"))[0].unlink()
    with pytest.raises(ex.ExplorerError, match="model-00001"):
        ex.load(folder)


def test_a_vocabulary_in_the_old_form_is_read(tmp_path: Path) -> None:
    """BERT's vocab.txt, without a tokenizer.json."""
    folder = exported("bert", tmp_path / "bert")
    described = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(described, key=described.__getitem__)) + "\n", "utf-8")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True}))
    model = ex.load(folder, device="cpu")
    assert isinstance(model, HubModel)
    theirs = AutoTokenizer.from_pretrained(folder)(TEXT)["input_ids"]
    assert model.tokens(TEXT).ids.tolist() == theirs and len(set(theirs)) > 4
    assert model.tokenizer.vocabulary.mask == described["[MASK]"]


def test_letters_and_merges_in_the_old_form_are_read(tmp_path: Path) -> None:
    """GPT-2's vocab.json and merges.txt."""
    folder = exported("gpt2", tmp_path / "gpt2")
    described = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]
    (folder / "vocab.json").write_text(json.dumps(described["vocab"]), "utf-8")
    merges = (" ".join(pair) if isinstance(pair, list) else pair for pair in described["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", "utf-8")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer"}))
    model = ex.load(folder, device="cpu")
    assert isinstance(model, HubModel)
    assert model.tokens(TEXT).ids.tolist() == AutoTokenizer.from_pretrained(folder)(TEXT)["input_ids"]


@LONG
@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
         "original_max_position_embeddings": 16},
        {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0},
    ],
)  # fmt: skip
@pytest.mark.parametrize("old", [False, True])
def test_settings_that_our_class_lacks_are_left_to_theirs(rope: dict[str, Any], old: bool, tmp_path: Path) -> None:
    """Llama 3 turns positions in a way of its own; older files say `rope_scaling` with a `type`."""
    folder = exported("llama", tmp_path / "llama")
    pieces = ex.load("llama", device="cpu").tokenizer.vocabulary.size
    shape = {"vocab_size": pieces, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    LlamaForCausalLM(LlamaConfig(**shape, max_position_embeddings=64, rope_parameters=rope)).save_pretrained(folder)
    if old:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        described = config.pop("rope_parameters")
        config |= {"rope_theta": described.pop("rope_theta"), "rope_scaling": {"type": described.pop("rope_type"), **described}}
        (folder / "config.json").write_text(json.dumps(config))
    model = ex.load(folder, device="cpu")
    assert isinstance(model, HubModel)
    ids = model.tokens(TEXT).ids.tolist()
    np.testing.assert_allclose(model.logits(TEXT), scores(folder, LlamaForCausalLM, ids), atol=1e-5)
    with pytest.raises(ex.ExplorerError, match="no twin"):
        ex.load(folder, native=True)


def command_in(message: str) -> list[str]:
    """The one command of a message, as a shell would read it, run by this Python."""
    command = re.search(r"python -c \".*\"", message)
    assert command, message
    _, *rest = shlex.split(command[0])
    return [sys.executable, *rest]


def advised(what: Path, cwd: Path) -> str:
    with pytest.raises(ex.ExplorerError) as refused:
        ex.load(what)
    message = str(refused.value)
    assert "\n" not in message and "…" not in message
    if not ALL:  # the command's code, in this process: another one imports transformers and peft for four seconds
        with contextlib.chdir(cwd):
            exec(command_in(message)[2], {})
        return message
    done = subprocess.run(command_in(message), cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    return message


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # which peft still asks
def test_an_adapter_is_refused_with_the_command_that_merges_it(tmp_path: Path) -> None:
    base = exported("gpt2", tmp_path / "base")
    torch.manual_seed(0)
    settings = LoraConfig(
        task_type="CAUSAL_LM", r=2, init_lora_weights=False, fan_in_fan_out=True
    )  # GPT-2 keeps its matrices turned
    tuned = get_peft_model(AutoModelForCausalLM.from_pretrained(base), settings)
    tuned.save_pretrained(tmp_path / "lora")
    assert "adapter_model.safetensors" in {path.name for path in (tmp_path / "lora").iterdir()}
    message = advised(tmp_path / "lora", tmp_path)
    assert "holds an adapter (LoRA), not a model" in message and str(base) in message
    model = ex.load(tmp_path / "merged", device="cpu")
    ids = model.tokens(TEXT).ids.tolist()
    with torch.no_grad():
        known = (
            AutoPeftModelForCausalLM.from_pretrained(tmp_path / "lora").eval()(input_ids=torch.tensor([ids])).logits[0].numpy()
        )
    np.testing.assert_allclose(model.logits(ids), known, atol=1e-4)
    assert np.abs(known - ex.load("gpt2", device="cpu").logits(ids)).max() > 0.1, "the adapter changes something"


@LONG
def test_pickled_weights_are_refused_with_the_command_that_writes_them_anew(tmp_path: Path) -> None:
    folder = exported("bert", tmp_path / "bert")
    whole = load_file(folder / "model.safetensors")
    torch.save(whole, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert "pickled" in advised(folder, tmp_path)
    opened = ex.load(folder, device="cpu")
    ids = opened.tokens(TEXT).ids.tolist()
    np.testing.assert_allclose(opened.logits(ids), ex.load("bert", device="cpu").logits(ids), atol=1e-4)


def test_a_checkpoint_without_a_tokenizer_is_refused_with_the_command_that_copies_one(tmp_path: Path) -> None:
    base, folder = exported("gpt2", tmp_path / "base"), tmp_path / "tuned"
    AutoModelForCausalLM.from_pretrained(base).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"_name_or_path": str(base)}))
    assert "no tokenizer" in advised(folder, tmp_path)
    assert ex.load(folder, device="cpu").tokens(TEXT).texts == ex.load(base, device="cpu").tokens(TEXT).texts


@pytest.mark.parametrize("place", ["it's; rm -rf x", 'a"b', "$(x)", "`x`"])
def test_a_name_that_a_shell_would_run_is_not_written_into_a_command(place: str, tmp_path: Path) -> None:
    folder = tmp_path / place
    shutil.copytree(exported("gpt2", tmp_path / "gpt2"), folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ex.ExplorerError) as refused:
        ex.load(folder)
    assert place not in str(refused.value).split("python -c")[1] and "'FOLDER'" in str(refused.value)
