"""Every model that `ex.load` opens writes, or says why it cannot: from a folder, a live one, with Hugging Face's own `generate` beside."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, some
from opening import opened
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, GPTNeoXConfig, GPTNeoXForCausalLM

import explorer as ex
from explorer.app.brought import AGREED
from explorer.app.lessons.decoding import parts as desk
from explorer.models.hub.architectures import tiny
from studies import support

PROMPT, SOURCE, TOKENS = "The dog was", "The dog was tired.", 8
WRITERS = {**dict.fromkeys(("gpt2", "llama"), AutoModelForCausalLM), **dict.fromkeys(("bart", "t5"), AutoModelForSeq2SeqLM)}
SHIPPED = {"gpt", "gpt2", "llama"}


GREEDY: dict[str, Any] = {}
BEAM: dict[str, Any] = {"beams": 3, "length_penalty": 1.0}
MET = (("gpt2", GREEDY), ("llama", BEAM), ("bart", GREEDY), ("t5", BEAM))


@pytest.fixture(scope="module", params=some(WRITERS, "gpt2", "t5"))
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, ex.export(ex.load(request.param, device="cpu"), folder)


def theirs(name: str, folder: Path) -> Any:
    return WRITERS[name].from_pretrained(folder).eval()


def generated(module: Any, prompt: list[int], source: list[int] | None, **options: Any) -> list[int]:
    """What Hugging Face's own `generate` writes after the prompt."""
    reads = {} if source is None else {"decoder_input_ids": torch.tensor([prompt])}
    ids = torch.tensor([prompt if source is None else source])
    out = module.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=TOKENS, **options, **reads)
    return out[0].tolist()[len(prompt) :]


def without_end(ids: list[int], module: Any) -> list[int]:
    end = module.generation_config.eos_token_id
    return ids[: ids.index(end)] if end in ids else ids


@LONG
@pytest.mark.parametrize(("checkpoint", "options"), some(product(WRITERS, (GREEDY, BEAM)), *MET), indirect=["checkpoint"])
def test_a_folder_and_a_live_model_write_what_generate_writes(checkpoint: tuple[str, Path], options: dict[str, Any]) -> None:
    name, folder = checkpoint
    module = theirs(name, folder)
    opened = ex.load(folder, native=False, device="cpu")
    live = ex.load((theirs(name, folder), AutoTokenizer.from_pretrained(folder)))
    text = SOURCE if opened.family == "encoder-decoder" else PROMPT
    strategy = "beam" if options else "greedy"
    for model in (opened, live):
        *_, final = ex.decode(model, text, strategy, max_tokens=TOKENS, **options)
        source = model.tokens(text).ids.tolist()
        paired = model.family == "encoder-decoder"
        end = model.tokenizer.vocabulary.last
        prompt = [model.start] if paired else source[:-1] if source[-1] == end else source
        kept = {"num_beams": options["beams"], "length_penalty": 1.0} if options else {}
        expected = generated(module, prompt, source if paired else None, **kept)
        assert without_end(final.ids.tolist(), module) == without_end(expected, module)
        assert final.text == model.tokenizer.decode(final.ids.tolist())


@LONG
def test_our_own_class_and_theirs_write_the_same(checkpoint: tuple[str, Path]) -> None:
    name, folder = checkpoint
    ours, opened = ex.load(name, device="cpu"), ex.load(folder, native=False, device="cpu")
    ids = ours.tokens(SOURCE).ids.tolist()
    mine, its = (list(ex.decode(model, ids, "beam", beams=3, max_tokens=TOKENS)) for model in (ours, opened))
    assert mine[-1].ids.tolist() == its[-1].ids.tolist()
    np.testing.assert_allclose(mine[-1].total, its[-1].total, atol=1e-3)
    if ours.family == "encoder-decoder":
        for a, b in zip(mine, its, strict=True):
            assert a.cross is not None and b.cross is not None
            np.testing.assert_allclose(a.cross, b.cross, atol=1e-4)


def test_the_next_token_of_a_folder_is_shown(checkpoint: tuple[str, Path]) -> None:
    name, folder = checkpoint
    ours, opened = ex.load(name, device="cpu"), ex.load(folder, native=False, device="cpu")
    first, second = (ex.decoding.distribution(model, ours.tokens(SOURCE).ids.tolist()) for model in (ours, opened))
    np.testing.assert_allclose(np.sort(first.shares), np.sort(second.shares), atol=1e-4)
    assert first.ids[:5].tolist() == second.ids[:5].tolist() and second.model == opened.name


@LONG
def test_a_live_model_is_left_as_it_was_and_one_that_was_opened_serves_several_threads(checkpoint: tuple[str, Path]) -> None:
    name, folder = checkpoint
    module = theirs(name, folder)
    module.set_attn_implementation("sdpa")
    before, live = copy.deepcopy(module.state_dict()), ex.load((module, AutoTokenizer.from_pretrained(folder)))
    list(ex.decode(live, SOURCE, max_tokens=3))
    ex.decoding.watch(live, SOURCE, max_tokens=3)
    assert module.config._attn_implementation == "sdpa" and not module.training
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    opened = ex.load(folder, native=False, device="cpu")

    def write(number: int) -> list[int]:
        *_, last = ex.decode(opened, SOURCE, max_tokens=TOKENS)
        return list(last.ids.tolist())

    alone = write(0)
    with ThreadPoolExecutor(4) as pool:
        assert all(ids == alone for ids in pool.map(write, range(8)))


@pytest.mark.parametrize("name", ["OPTForCausalLM", "GPTNeoXForCausalLM", "Gemma2ForCausalLM", "BloomForCausalLM"])
def test_architectures_without_a_class_of_ours_write_too(name: str) -> None:
    tokenizer = support.words()
    module = tiny(name, max(64, tokenizer.vocabulary.size))
    model = ex.load((module, tokenizer))
    *_, final = ex.decode(model, support.TEXT, max_tokens=TOKENS)
    source = model.tokens(support.TEXT).ids.tolist()
    prompt = source[:-1] if source[-1] == tokenizer.vocabulary.last else source
    assert without_end(final.ids.tolist(), module) == without_end(generated(module, prompt, None), module)


@pytest.mark.parametrize("order", ["left", "confident", "mask-predict"])
def test_a_masked_model_from_a_folder_fills_blanks_as_ours_does(order: str, tmp_path: Path) -> None:
    ours = ex.load("bert", device="cpu")
    opened = ex.load(ex.export(ours, tmp_path / "bert"), native=False, device="cpu")
    text = "The dog was ___ because it ___."
    mine, its = (list(ex.decode(model, text, "fill", order=order)) for model in (ours, opened))
    assert [step.tokens.ids.tolist() for step in mine] == [step.tokens.ids.tolist() for step in its]
    np.testing.assert_allclose([step.total for step in mine], [step.total for step in its], atol=1e-3)


def test_who_cannot_write_says_so_and_what_can(tmp_path: Path) -> None:
    bert, gpt2 = (
        ex.load(ex.export(ex.load(name, device="cpu"), tmp_path / name), native=False, device="cpu")
        for name in ("bert", "gpt2")
    )
    run = ex.finetune(ex.load("gpt2", device="cpu"), task="sentiment", examples=16, steps=1, checks=0, device="cpu")
    list(run)
    for message, model, *given in (
        ("bert .*cannot generate.*masked model can only 'fill'", bert, PROMPT),
        ("gpt2 does not fill blanks", gpt2, "A ___ ran.", "fill"),
        ("answer with a class .*model.classify", run.model, PROMPT),
        *((f"{name} predicts no next token .*ex.load", ex.load(name, device="cpu"), PROMPT) for name in ("elmo", "word2vec")),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.decode(model, *given)


def test_a_model_that_was_taught_to_answer_with_texts_writes() -> None:
    run = ex.finetune(ex.load("t5", device="cpu"), task="sentiment", examples=16, steps=1, checks=0, device="cpu")
    list(run)
    assert run.model.output.kind == "text"
    *_, answer = ex.decode(run.model, SOURCE, max_tokens=4)
    *_, below = ex.decode(run.model.body, SOURCE, max_tokens=4)
    assert answer.ids.tolist() == below.ids.tolist()


# whom the page offers


def neox(folder: Path) -> Path:
    """A checkpoint of a class that has no counterpart among ours, with a tokenizer."""
    gpt2 = ex.load("gpt2", device="cpu")
    ex.export(gpt2, folder)
    config = GPTNeoXConfig(
        vocab_size=gpt2.tokenizer.vocabulary.size, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64, rotary_pct=1.0,
    )  # fmt: skip
    GPTNeoXForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Own models: two checkpoints of Hugging Face's, a fine-tuned one, and one that is damaged."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    models = tmp_path / "models"
    neox(models / "neox")
    ex.export(ex.load("bert", device="cpu"), models / "their-bert")
    ex.export(ex.load("bart", device="cpu"), models / "their-bart")
    run = ex.finetune("gpt2", task="sentiment", examples=16, steps=1, checks=0, device="cpu", folder=models / "labels")
    list(run)
    (models / "broken").mkdir()
    (models / "broken" / "config.json").write_text(json.dumps([]))
    return models


def test_models_that_write_are_offered_whatever_their_kind(shelf: Path) -> None:
    assert set(desk.writers()) >= SHIPPED | {"neox"} and set(desk.writers("encoder-decoder")) >= {"bart", "their-bart"}
    both = {*desk.writers(), *desk.writers("encoder-decoder")}
    assert not both & {"their-bert", "labels", "broken", "bert", "elmo", "word2vec"}
    assert "labels" in ex.models()


def test_one_of_hugging_face_s_writes_on_the_page(shelf: Path) -> None:
    for part in ("greedy", "beams"):
        at = opened("decoding", writer="neox", part=part, beginning="The dog was")
        assert not at.exception and not at.warning, [box.value for box in at.warning]
        assert at.selectbox(key="writer").value == "neox"
        *_, drawn = (json.loads(one.proto.json) for one in at.get("bidi_component") if "decoder" in one.proto.component_name)
        assert drawn["writing"]["address"] == "" and drawn["writing"]["steps"][-1]["stopped"], (
            "Python's steps, in the same figure"
        )


def test_what_the_visitor_opened_in_your_model_is_offered_and_a_link_alone_opens_nothing(tmp_path: Path) -> None:
    folder = str(neox(tmp_path / "mine"))
    at = opened("decoding", part="greedy", writer=folder)
    assert not at.exception and folder not in at.selectbox(key="writer").options
    at.session_state[AGREED] = folder
    at.run()
    assert not at.exception and folder in at.selectbox(key="writer").options
    at.selectbox(key="writer").set_value(folder).run()
    assert not at.exception and not at.warning and at.selectbox(key="writer").value == folder
