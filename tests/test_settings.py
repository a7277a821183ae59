"""Settings of checkpoints from strangers: no setting opens another file, and no number takes more memory than the weights have."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from conftest import ALL, LONG, SAMPLED
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

import explorer as ex
from explorer.errors import FileError
from explorer.models.hub import archive, opening, settings
from explorer.models.hub.architectures import ARCHITECTURES, tiny
from explorer.models.transformer import TransformerModel

SECRET = "sEcReT"
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] <s> </s> <pad> <unk> <mask> the dog ran a b ab"  # a vocabulary
CLASSES = sorted(
    {name for name in TOKENIZER_MAPPING_NAMES.values() if name}
    | {name for name in dir(transformers) if name.endswith(("Tokenizer", "TokenizerFast")) and name != "AutoTokenizer"}
)


@pytest.fixture
def folder(bert: TransformerModel, tmp_path: Path) -> Path:
    return ex.export(bert, tmp_path / "bert")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A folder with a configuration, and vocabularies of all kinds but tokenizer.json."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}', "utf-8")
    (folder / "vocab.txt").write_text(WORDS.replace(" ", "\n"), "utf-8")
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(WORDS.split())}), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\na b\n", "utf-8")
    for name, content in (("json", json.dumps({SECRET: 0, "<unk>": 1})), ("txt", f"{SECRET}\n<unk> {SECRET}\n")):
        (tmp_path / f"secret.{name}").write_text(content, "utf-8")
    return folder


def keys() -> list[str]:
    """Every setting by which a class of transformers could be given a file."""
    files: set[str] = set()
    for name in CLASSES:
        with suppress(ImportError, AttributeError):  # a class whose own library is not installed
            files |= set(getattr(transformers, name).vocab_files_names)
    return sorted(files) + ["vocab", "merges", "added_tokens_file", "special_tokens_map_file", "gguf_file", "name_or_path",
                            "fast_tokenizer_files", "init_inputs", "sp_model_kwargs", "entity_vocab", "source_spm", "chat_template",
                            "tokenizer_object", "additional_special_tokens", "extra_special_tokens"]  # fmt: skip


def value_of(key: str, secret: Path) -> Any:
    """What the setting has to be to name the file."""
    if key == "sp_model_kwargs":
        return {"model_file": str(secret)}
    return [str(secret)] if key in ("init_inputs", "fast_tokenizer_files") else str(secret)


def attacks() -> Iterator[tuple[str, str, str, str]]:
    """Every class with every setting, in either file of settings; of those a fixed sample where not all are asked for."""
    cases = list(product(CLASSES, keys(), settings.TOKENIZER_SETTINGS))
    for number, case in enumerate(cases if ALL else cases[:: len(cases) // 48 | 1]):
        yield *case, ("json", "txt")[number % 2]
    yield from product(("BertTokenizer", "GPT2Tokenizer"), ("vocab", "merges"), settings.TOKENIZER_SETTINGS, ("json", "txt"))


def test_no_setting_of_a_tokenizer_opens_another_file(plain: Path, tmp_path: Path) -> None:
    config, count = transformers.BertConfig(), 0
    for kind, key, file, suffix in attacks():
        for name in settings.TOKENIZER_SETTINGS:
            (plain / name).unlink(missing_ok=True)
        (plain / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind}), "utf-8")
        declared = {"tokenizer_class": kind, key: value_of(key, tmp_path / f"secret.{suffix}")}
        (plain / file).write_text(json.dumps(declared), "utf-8")
        try:
            tokenizer = opening._tokenizer(plain, config)
            words, count = set(tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else ()), count + 1
        except ex.ExplorerError as error:
            words = {str(error)}
        assert not any(SECRET in word for word in words), (kind, key, file)
    assert count > 20, "most settings are left out, and the tokenizer is built without them"


@LONG
@pytest.mark.parametrize(("key", "secret"), list(product(("vocab", "merges"), ("/proc/self/environ", "/dev/zero"))))
def test_a_vocabulary_that_is_a_path_is_refused(key: str, secret: str, folder: Path, tmp_path: Path) -> None:
    """In a folder and in an upload; without a refusal /dev/zero ends the whole process."""
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text(WORDS.replace(" ", "\n"), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", key: secret}), "utf-8")
    for place in (lambda: folder, lambda: unpacked(folder, tmp_path)):
        with pytest.raises(FileError, match=f"names a file as its {key}"):
            ex.load(place(), device="cpu")


def unpacked(folder: Path, place: Path) -> Path:
    """The folder, uploaded as a .zip."""
    return archive.unpack(BytesIO(archive.pack(folder)), place / "unpacked", "mine.zip")


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"])
@pytest.mark.parametrize("target", ["secret.json", "/dev/zero"])
def test_a_link_out_of_the_folder_is_refused(name: str, target: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(SECRET, "utf-8")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / target)
    with pytest.raises(FileError, match="a link to a file in another folder") as error:
        ex.load(folder, native=False, device="cpu")
    assert SECRET not in str(error.value)


def changed(folder: Path, **values: Any) -> Path:
    """The folder with other values in its configuration."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | values), "utf-8")
    return folder


HUGE: list[dict[str, Any]] = [
    {"num_labels": 2_000_000}, {"num_labels": 10**9}, {"num_hidden_layers": 10**5}, {"max_position_embeddings": 10**9},
    {"text_config": {"num_labels": 10**8}}, {"vocab_size": 10**12}, {"hidden_size": 10**7}, {"num_labels": 1e8},
    {"intermediate_size": 10**6}, {"id2label": dict.fromkeys(range(150_000), "x")}, {"pruned_heads": {"0": [0] * 150_000}},
]  # fmt: skip
BROKEN: list[dict[str, Any]] = [
    {"num_hidden_layers": "two"}, {"hidden_size": [1]}, {"num_attention_heads": 0}, {"vocab_size": -5},
    {"quantization_config": {"quant_method": "awq", "bits": 4}},
]  # fmt: skip


@SAMPLED
@pytest.mark.parametrize("values", HUGE + BROKEN, ids=lambda values: str(values)[:60])
def test_one_number_takes_no_memory(values: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    changed(folder, **values)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    openings = [lambda: ex.load(folder, native=False, device="cpu"), lambda: unpacked(folder, tmp_path)]
    for open_it in openings if values in HUGE else [*openings, lambda: ex.load(folder, device="cpu")]:
        try:
            open_it()
        except ex.ExplorerError as error:
            assert "\n" not in str(error)
            assert values in BROKEN or re.search("is not opened|do not belong|does not describe|cannot be used", str(error))
        else:
            assert values in BROKEN
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes"


def test_parts_and_tables_that_no_file_holds_are_refused(tmp_path: Path) -> None:
    """Layers that are named by the length of a list, and squares of a length that are computed, not read."""
    funnel = transformers.FunnelConfig(block_sizes=[200] * 50, d_model=8, n_head=1, d_head=8, d_inner=8, vocab_size=16)
    neo = transformers.GPTNeoConfig(hidden_size=1, num_heads=1, num_layers=1, attention_types=[[["global"], 1]], vocab_size=16,
                                    max_position_embeddings=18_000, bos_token_id=0, eos_token_id=0)  # fmt: skip
    for config, size, says in ((funnel, 100, "many more parts"), (neo, 200_000, "tables of")):
        folder = tmp_path / config.model_type
        config.save_pretrained(folder)
        save_file({"weight": tiny("GPT2LMHeadModel", 64).lm_head.weight.new_zeros(size)}, folder / "model.safetensors")
        with pytest.raises(FileError, match=says):
            opening.checked_configuration(folder, "mine")


INDEXES: list[Any] = [
    {"weight_map": {"a": "weights.bin"}}, {"weight_map": {"a": "../../other/model.safetensors"}}, {"weight_map": {"a": 3}},
    {"weight_map": {"a": "/etc/model.safetensors"}}, {"weight_map": {"a": "absent.safetensors"}}, {"weight_map": []}, {},
]  # fmt: skip


@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_an_index_names_safetensors_beside_it_and_nothing_else(index: Any, folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    (folder / "weights.bin").write_bytes(b"pickle")
    (folder / settings.INDEX).write_text(json.dumps(index), "utf-8")
    with pytest.raises(FileError, match="does not say which|its index of weights names"):
        ex.load(folder, native=False, device="cpu")
    (folder / settings.INDEX).unlink()
    changed(folder, transformers_weights="../other/model.safetensors.index.json")
    with pytest.raises(FileError, match=r"not \*\.safetensors files beside it"):
        ex.load(folder, native=False, device="cpu")


@SAMPLED
@pytest.mark.parametrize(
    "named",
    [
        [5],
        ["utils"],
        ["logging"],
        ["__name__"],
        ["pipeline"],
        ["AutoTokenizer"],
        5,
        [["x"]],
        ["PreTrainedModel"],
        ["BertPreTrainedModel"],
    ],
)
def test_only_a_model_is_built(named: Any, folder: Path) -> None:
    """A name that is no class of a model is not looked at: the class follows from the configuration."""
    changed(folder, architectures=named)
    ex.load(folder, device="cpu")  # of our own class, where it says the same
    try:
        assert isinstance(ex.load(folder, native=False, device="cpu").module, transformers.PreTrainedModel)
    except FileError as error:
        assert "config.json" in str(error)


@pytest.mark.parametrize("name", ["kernels-community/flash-attn", "/etc/passwd"])
def test_no_code_for_attention_is_fetched_from_the_hub(name: str, folder: Path, bert: TransformerModel) -> None:
    """Where the kernels library is installed, transformers fetches what has a stroke in its name, and runs it."""
    changed(folder, attn_implementation=name, experts_implementation=name)
    model = ex.load(folder, native=False, device="cpu")
    assert abs(model.logits("The dog ran.") - bert.logits("The dog ran.")).max() <= 1e-4


def test_no_adapter_beside_a_model_is_followed(folder: Path, tmp_path: Path) -> None:
    """Transformers adds it in, also where it is pickled; we would not. No folder may mean two models."""
    settings = {"peft_type": "LORA", "r": 2, "target_modules": ["query"], "base_model_name_or_path": "/etc"}
    (folder / "adapter_config.json").write_text(json.dumps(settings), "utf-8")
    (folder / "adapter_model.bin").write_bytes(b"pickle")
    for native in (None, False):
        with pytest.raises(FileError, match="an adapter .LoRA. beside it"):
            ex.load(folder, native=native, device="cpu")
    assert not (unpacked(folder, tmp_path) / "adapter_config.json").exists(), "of an upload it is not even written"


def test_of_pickled_weights_the_command_names_a_model_only(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    for named in (5, "x", [[]], ["a'); import os"]):
        changed(folder, architectures=named)
        with pytest.raises(FileError, match="import AutoModel as M"):
            ex.load(folder, device="cpu")


def test_old_settings_that_name_files_of_their_author_still_open(bert: TransformerModel, folder: Path) -> None:
    """`google/flan-t5-base` and many others hold the paths of who saved them; they were never used."""
    path = folder / "tokenizer_config.json"
    old = {"special_tokens_map_file": "/home/them/special_tokens_map.json", "tokenizer_file": None, "name_or_path": "./x",
           "model_max_length": 10**30, "tokenizer_class": "BertTokenizer"}  # fmt: skip
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | old), "utf-8")
    tokens = ex.load(folder, native=False, device="cpu").tokens("The dog ran.")
    assert tokens.ids.tolist() == bert.tokens("The dog ran.").ids.tolist()


@pytest.mark.parametrize("name", list(ARCHITECTURES)[:: 1 if ALL else 6])
def test_every_architecture_is_within_the_bounds(name: str, tmp_path: Path) -> None:
    """What transformers itself writes is never refused for its numbers."""
    tiny(name, 64).save_pretrained(tmp_path)
    try:
        _, kind = opening.checked_configuration(tmp_path, name)
    except ex.ExplorerError as error:
        assert "no attention" in str(error)
    else:
        assert kind.__name__ == name


@pytest.fixture
def snapshot(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model as the hub's cache holds it: links to files that are named by their content."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    place = tmp_path / "hub" / "models--org--model"
    linked = place / "snapshots" / ("a" * 40)
    for path in (place / "blobs", place / "refs", linked):
        path.mkdir(parents=True)
    (place / "refs" / "main").write_text("a" * 40, "utf-8")
    for path in folder.iterdir():
        shutil.move(path, place / "blobs" / path.name)
        (linked / path.name).symlink_to(Path("../../blobs") / path.name)
    return linked


def test_a_model_in_the_cache_of_the_hub_opens_under_the_same_rules(snapshot: Path, bert: TransformerModel) -> None:
    model = ex.load("org/model", device="cpu")
    assert abs(model.logits("The dog ran.") - bert.logits("The dog ran.")).max() <= 1e-4
    changed(snapshot, num_labels=2_000_000)
    with pytest.raises(FileError, match="num_labels = 2000000"):
        ex.load("org/model", device="cpu")
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(FileError, match="could not be fetched from the hub: the network cannot be reached"):
        ex.load("org/model", device="cpu")


@LONG
def test_the_teacher_s_key_is_in_no_environment(tmp_path: Path) -> None:
    """What the server of a room starts with can be read as a file; what it starts inherits it."""
    own = f'[[question]]\nquestion = "{"x" * 380}?"\noptions = ["a", "b"]\nanswer = "a"\n'
    (tmp_path / "room.toml").write_text(f'key = "{SECRET}"\n{own * 250}', "utf-8")  # more than a pipe holds
    (tmp_path / "sitecustomize.py").write_text(SERVER, "utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parent.parent}"}
    command = [sys.executable, "-m", "explorer", "app", "--settings", str(tmp_path / "room.toml"), "--address", "127.0.0.1"]
    output = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    seen = json.loads(output.splitlines()[-1])
    assert seen["key"] == SECRET and "PYTHONPATH" in seen["start"]
    assert SECRET not in seen["start"] and SECRET not in seen["child"]


SERVER = """
import sys
if "explorer.app.serve" in sys.orig_argv:
    import json, pathlib, subprocess
    from streamlit.web import cli

    def main(prog_name):
        from explorer.app import hosted
        child = subprocess.run([sys.executable, "-S", "-c", "import os; print(dict(os.environ))"], capture_output=True, text=True)
        start = pathlib.Path("/proc/self/environ").read_text() + pathlib.Path("/proc/self/cmdline").read_text()
        print(json.dumps({"key": hosted.room().key, "start": start, "child": child.stdout}))

    cli.main = main
"""


@pytest.mark.parametrize("name", ["BertForPreTraining", "GPT2LMHeadModel", "GPTNeoForCausalLM", "T5ForConditionalGeneration"])
def test_weights_and_tables_are_counted_as_its_own_class_builds_them(name: str) -> None:
    module = tiny(name, 64)
    tables = sum(table.numel() * table.element_size() for table in module.buffers())
    counted = opening.count_weights(type(module), module.config, name)
    assert counted == (sum(weight.numel() for weight in module.parameters()), tables)


def test_twice_as_many_weights_as_a_file_has_bytes_do_not_belong_together(tmp_path: Path) -> None:
    module = tiny("GPT2LMHeadModel", 64)
    module.config.save_pretrained(tmp_path)
    count = sum(weight.numel() for weight in module.parameters())
    for size, fits in ((count, True), (count // 2, False)):
        if fits:
            assert opening.checked_configuration(tmp_path, "mine", size)[1] is type(module)
        else:
            with pytest.raises(FileError, match="million weights, and its files have"):
                opening.checked_configuration(tmp_path, "mine", size)


def test_a_tenth_of_the_free_memory_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    module = tiny("GPTNeoForCausalLM", 64)
    needed = sum(part.numel() * part.element_size() for part in (*module.parameters(), *module.buffers()))
    kind, config = type(module), module.config
    opening.check_memory(kind, config, "mine", free=int(needed / 0.9) + 2)
    for free in (int(needed / 0.9) - 2, int(needed / 0.95)):
        with pytest.raises(ex.ExplorerError, match="of which a tenth is left"):
            opening.check_memory(kind, config, "mine", free=free)
    monkeypatch.setattr(opening.psutil, "virtual_memory", lambda: SimpleNamespace(available=needed))
    with pytest.raises(ex.ExplorerError, match="of which a tenth is left"):
        opening.check_memory(kind, config, "mine")


def test_a_checkpoint_is_stored_in_the_type_of_most_of_its_numbers(tmp_path: Path) -> None:
    few = {f"norm{n}": torch.ones(4) for n in range(9)}
    assert opening.stored_type(tmp_path) is torch.float32, "of nothing"
    for kind in (torch.bfloat16, torch.float16):
        save_file(few | {"matrix": torch.zeros(40, 40, dtype=kind)}, tmp_path / "model.safetensors")
        assert opening.stored_type(tmp_path) is kind
    save_file({"small": torch.zeros(30, dtype=torch.bfloat16), **few}, tmp_path / "model.safetensors")
    assert opening.stored_type(tmp_path) is torch.float32 and opening.count_tensors(tmp_path) == 10


def test_a_weight_that_the_checkpoint_lacks_is_noted(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if name.endswith("attention.self.query.weight"))
    whole = ex.load(folder, native=False, device="cpu").notes
    save_file({name: value for name, value in weights.items() if name != lost}, folder / "model.safetensors", {"format": "pt"})
    notes = ex.load(folder, native=False, device="cpu").notes
    assert [note for note in notes if note not in whole] == [
        f"1 weights are not in the checkpoint and were drawn at random: {lost} …"
    ]


def test_transformers_is_left_as_its_user_had_it(folder: Path) -> None:
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    try:
        for level, shown in ((logging.INFO, False), (logging.ERROR, True)):
            logging.set_verbosity(level)
            (logging.enable_progress_bar if shown else logging.disable_progress_bar)()
            ex.load(folder, native=False, device="cpu")
            assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == (level, shown)
    finally:
        logging.set_verbosity(before)
        (logging.enable_progress_bar if bars else logging.disable_progress_bar)()


def test_what_has_one_state_for_all_it_has_read_has_no_attention() -> None:
    """By the layers that a configuration names; where it names none, by what the file of its class defines."""
    attends = {"linear_attention": False, "full_attention": True, "sliding_attention": True, "mamba": False, "hybrid": True}
    for layer, expected in attends.items():
        config = SimpleNamespace(model_type="mixed", layer_types=["linear_attention", layer])
        assert opening.without_attention(transformers.BertModel, config) is not expected, layer
    for name, expected in {
        "BertModel": True,
        "GPT2Model": True,
        "RwkvModel": False,
        "MambaModel": False,
        "FNetModel": False,
    }.items():
        kind = getattr(transformers, name)
        assert opening.without_attention(kind, kind.config_class()) is not expected, name


def test_a_live_pair_has_its_name_and_reads_as_much_as_its_tokenizer_says(folder: Path) -> None:
    module, tokenizer = transformers.BertModel.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.model_max_length = 7
    model = opening.open_pair(module, tokenizer)
    assert (model.name, opening.open_pair(module, tokenizer, "mine").name, model.longest) == ("BertModel", "mine", 7)
    with pytest.raises(ex.ExplorerError, match="reads at most 7"):
        model.tokens("The dog ran and the dog ran.")
