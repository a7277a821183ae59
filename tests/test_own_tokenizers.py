"""A tokenizer that somebody brought along, a file or an object of another library, cuts texts as that library does."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tokenizers as library
from conftest import LONG
from test_begin_token import one_row
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from typed import typed

import explorer as ex
from explorer.corruption.collate import collate_causal
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories

TEXTS = [" ".join(story) for story in toy_stories(200, 1)]
TEXT = "A dog ran. Naïve café, it was red!"
NAMES = {"bos_token": "<begin>", "eos_token": "<stop>", "pad_token": "<fill>", "mask_token": "<hide>", "unk_token": "<odd>"}
SMALL = {"dim": 32, "heads": 2, "hidden": 64, "batch": 4, "steps": 2, "checks": 0, "device": "cpu"}


@pytest.fixture(scope="module")
def core() -> library.Tokenizer:
    """A tokenizer trained by the library, with special tokens whose names say nothing to us, and with settings for batches."""
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=list(NAMES.values()), show_progress=False)
    tokenizer = library.Tokenizer(models.BPE(unk_token="<odd>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.train_from_iterator([*TEXTS, TEXT], trainer)
    tokenizer.enable_padding(length=50, pad_token="<fill>")
    tokenizer.enable_truncation(5)
    return tokenizer


@pytest.fixture(scope="module")
def theirs(core: library.Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=library.Tokenizer.from_str(core.to_str()), **NAMES)


@pytest.fixture(scope="module")
def ways(core: library.Tokenizer, theirs: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same tokenizer as a file, a folder that transformers wrote, and as objects of both libraries."""
    folder = tmp_path_factory.mktemp("tokenizer")
    core.save(str(folder / "mine.json"))
    theirs.save_pretrained(folder / "saved")
    return {"file": str(folder / "mine.json"), "path": folder / "saved", "core": core, "transformers": theirs}


WAYS = ("file", "path", "core", "transformers")


@pytest.mark.parametrize("way", WAYS)
def test_it_cuts_as_its_library_does_and_theirs_stays_as_it_is(
    way: str, ways: dict[str, Any], core: library.Tokenizer, theirs: PreTrainedTokenizerFast
) -> None:
    ours = ex.tokenizer(ways[way])
    expected = theirs(TEXT, add_special_tokens=False)["input_ids"]
    assert len(expected) > 5, "not cut short"
    assert ours.encode(TEXT, special=False).ids.tolist() == expected
    assert ours.decode(expected) == core.decode(expected)
    assert ours.vocabulary.size == len(theirs)
    assert len(core.encode(TEXT).ids) == 50, "still padded and cut, for whoever it belongs to"


@pytest.mark.parametrize("way", ["path", "transformers"])
def test_the_special_tokens_are_those_that_transformers_names(
    way: str, ways: dict[str, Any], theirs: PreTrainedTokenizerFast
) -> None:
    known = ex.tokenizer(ways[way]).vocabulary
    assert (known.begin, known.end, known.pad) == (theirs.bos_token_id, theirs.eos_token_id, theirs.pad_token_id)
    assert (known.mask, known.unknown) == (theirs.mask_token_id, theirs.unk_token_id)
    assert len({known.begin, known.end, known.pad, known.mask, known.unknown}) == 5


@pytest.mark.parametrize("way", ["path", "transformers"])
def test_corrupting_takes_it(way: str, ways: dict[str, Any], theirs: PreTrainedTokenizerFast) -> None:
    record = ex.corrupt(TEXT, "mlm", tokenizer=ways[way], seed=1, rate=0.5)
    assert record.original.ids.tolist() == theirs(TEXT)["input_ids"]
    hidden = [int(i) for i, action in zip(record.source.ids, record.action, strict=True) if action == "masked"]
    assert hidden and set(hidden) == {theirs.mask_token_id}
    assert ex.hide(TEXT, ["dog"], tokenizer=ways[way]).source.ids.tolist().count(theirs.mask_token_id) > 0
    both = ex.text.side_by_side(TEXT, {"theirs": ways[way], "bert": ex.load("bert", device="cpu").tokenizer})
    assert both.tokens[0].ids.tolist() == theirs(TEXT, add_special_tokens=False)["input_ids"]


def test_a_run_takes_it_and_its_folder_opens_with_transformers(
    ways: dict[str, Any], theirs: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    losses = []
    for way in ("path", "transformers"):
        run = ex.fit("gpt2", corpus=TEXTS, tokenizer=ways[way], folder=tmp_path / way, **SMALL)
        losses.append([step.losses["lm"] for step in run])
        assert run.model.tokenizer.vocabulary.size == run.model.config.vocab == len(theirs)
    assert losses[0] == losses[1]
    ex.export(run.model, tmp_path / "out")
    exported = PreTrainedTokenizerFast.from_pretrained(tmp_path / "out")
    rows = collate_causal(*one_row(run.model)).source[0].tolist()
    assert exported(TEXT)["input_ids"] == [rows[0], *theirs(TEXT)["input_ids"]], "with the begin token of its rows"


def test_a_pair_of_a_module_and_a_file_is_traced(ways: dict[str, Any], theirs: PreTrainedTokenizerFast) -> None:
    module = GPT2LMHeadModel(GPT2Config(vocab_size=len(theirs), n_embd=32, n_head=2, n_layer=1, n_positions=64)).eval()
    traces = [ex.trace(ex.load((module, ways[way])), TEXT) for way in WAYS]
    for trace in traces:
        assert trace.source.ids.tolist() == theirs(TEXT)["input_ids"]
    built = ex.build("gpt2", tokenizer=ways["file"], layers=1, dim=32, heads=2, hidden=64, device="cpu")
    assert ex.trace(built, TEXT).source.ids.tolist() == theirs(TEXT)["input_ids"]


def test_a_learned_one_goes_from_the_command_line_into_a_run(tmp_path: Path) -> None:
    (tmp_path / "kjv.txt").write_text("\n\n".join(TEXTS), "utf-8")
    learned = typed(*shlex.split("learn kjv.txt --kind byte-bpe --size 300 --out tok/new/bpe.json"), folder=tmp_path)
    assert learned.returncode == 0 and learned.stderr.startswith("kjv.txt: 200 documents (a blank line between two)")
    assert "none held out" in learned.stderr and learned.stderr.endswith("Written to tok/new/bpe.json.\n")
    line = "fit gpt2 --corpus kjv.txt --steps 1 --batch 4 --checks 0 --set tokenizer=tok/new/bpe.json"
    done = typed(*shlex.split(line), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    kept, expected = (
        library.Tokenizer.from_file(str(tmp_path / name)) for name in ("runs/gpt2/tokenizer.json", "tok/new/bpe.json")
    )
    assert kept.get_vocab() == expected.get_vocab() and kept.encode(TEXT).ids == [0, *expected.encode(TEXT).ids]
    assert expected.id_to_token(0) == "<|endoftext|>", "the begin token of a decoder's rows"
    line = "corrupt 'A dog ran.' --strategy causal --model tok/new/bpe.json --json"
    source = json.loads(typed(*shlex.split(line), folder=tmp_path).stdout)["source"]
    assert source == [text.replace("Ġ", "·") for text in expected.encode("A dog ran.").tokens]


@LONG
def test_where_a_tokenizer_goes_is_looked_at_first(tmp_path: Path) -> None:
    """Nothing is learned for a place that cannot be written: no merge is printed before the refusal."""
    (tmp_path / "x.txt").write_text("\n\n".join(TEXTS), "utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "taken" / "tokenizer.json").mkdir(parents=True)
    for out, message in (("x.txt/bpe.json", "is in the way, it is a file"), ("taken", "cannot be written")):
        done = typed(*shlex.split(f"learn x.txt --size 300 --out {out}"), folder=tmp_path)
        assert done.returncode == 2 and message in done.stderr and done.stdout == ""
    done = typed(*shlex.split("learn x.txt --size 100 --out folder"), folder=tmp_path)
    assert done.returncode == 0 and (tmp_path / "folder" / "tokenizer.json").is_file()
    for work in (partial(ex.fit, "gpt2", corpus="no such corpus"), partial(ex.finetune, "no such model")):
        with pytest.raises(ex.ExplorerError, match="is in the way"):
            work(folder=tmp_path / "x.txt" / "run")


REFUSED: list[tuple[Callable[[Path], Any], str]] = [
    (lambda folder: ex.tokenizer(folder / "none.json"), "There is no file .*none.json. A tokenizer is the path"),
    (lambda folder: ex.tokenizer(folder / "x.json"), "not a tokenizer.json that can be read"),
    (lambda folder: ex.tokenizer(folder), "There is no file .*tokenizer.json"),
    (lambda folder: ex.tokenizer(3), "kind=3 must be a text or a path or a tokenizer"),
    (lambda folder: ex.tokenizer("bpe"), "The texts are missing"),
    (lambda folder: ex.tokenizer("bpe", TEXTS), "size=… is missing"),
    (lambda folder: ex.tokenizer("bpe", size=300), "The texts are missing"),
    (lambda folder: ex.fit("gpt2", corpus=TEXTS, tokenizer="bpee"), "no tokenizer or file 'bpee'. Did you mean 'bpe'"),
    (lambda folder: ex.fit("bert", corpus=TEXTS, tokenizer=ex.tokenizer("bpe", TEXTS, size=300), steps=1), "mask"),
    (lambda folder: ex.corrupt("A dog.", "mlm", tokenizer=object()), "is not a tokenizer of the"),
]


@pytest.mark.parametrize(("work", "message"), REFUSED)
def test_what_is_no_tokenizer_is_met_with_a_sentence(work: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"model": {"type": "none"}}))
    with pytest.raises(ex.ExplorerError, match=message):
        work(tmp_path)


def test_a_tokenizer_of_ours_is_given_back_as_it_is() -> None:
    ours = ex.load("bert", device="cpu").tokenizer
    assert isinstance(ours, Tokenizer) and ex.tokenizer(ours) is ours
