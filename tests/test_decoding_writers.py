"""Whom the page on decoding offers: every model that writes, of our kinds or of Hugging Face's, and none that does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from opening import opened
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

import explorer as ex
from explorer.app.controls import AGREED
from explorer.app.lessons.decoding import parts as desk

SHIPPED = {"gpt", "gpt2", "llama"}


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
    at = opened("decoding", writer="neox", part="greedy", beginning="The dog was")
    assert not at.exception and not at.warning, [box.value for box in at.warning]
    assert at.selectbox(key="writer").value == "neox" and len(at.get("plotly_chart")) >= 1
    at = opened("decoding", writer="neox", part="beams", beginning="The dog was")
    assert not at.exception and not at.warning


def test_what_the_visitor_opened_in_your_model_is_offered_and_a_link_alone_opens_nothing(tmp_path: Path) -> None:
    folder = str(neox(tmp_path / "mine"))
    at = opened("decoding", part="greedy", writer=folder)
    assert not at.exception and folder not in at.selectbox(key="writer").options
    at.session_state[AGREED] = folder
    at.run()
    assert not at.exception and folder in at.selectbox(key="writer").options
    at.selectbox(key="writer").set_value(folder).run()
    assert not at.exception and not at.warning and at.selectbox(key="writer").value == folder
