"""Our models against Hugging Face's classes, both ways: the proof that our model code is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from conftest import LONG, TABLE, sample, some

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer

CASES = sample(40, 5)
CLASSES = {"bert": hf.BertForPreTraining, "gpt": hf.OpenAIGPTLMHeadModel, "gpt2": hf.GPT2LMHeadModel, "llama": hf.LlamaForCausalLM,
           "t5": hf.T5ForConditionalGeneration, "bart": hf.BartForConditionalGeneration, "transformer": hf.MarianMTModel,
           "roberta": hf.RobertaForMaskedLM, "olmo": hf.OlmoForCausalLM, "olmo2": hf.Olmo2ForCausalLM,
           "pegasus": hf.PegasusForConditionalGeneration, "deberta": hf.DebertaV2ForMaskedLM, "spanbert": hf.BertForMaskedLM,
           "electra": hf.ElectraForPreTraining, "distilbert": hf.DistilBertForMaskedLM}  # fmt: skip
BERTS = ("bert", "spanbert", "electra", "distilbert")  # whose tokenizer is BERT's
LIMIT = 1e-4
PADDED = ex.tokenizer("byte-bpe", ["The dog ran home, and it was tired."], size=300, specials=ex.presets()["roberta"].specials)


def random_shape(number: int, preset: str) -> dict[str, int]:
    rng = np.random.default_rng(number)
    heads = int(rng.choice([1, 2, 3, 4]))
    shape = {"heads": heads, "dim": heads * 2 * int(rng.integers(1, 10)), "layers": int(rng.integers(1, 5)),
             "hidden": int(rng.integers(3, 90)), "length": int(rng.integers(24, 60))}  # fmt: skip
    if preset == "gpt":
        shape["hidden"] = 4 * shape["dim"]
    if preset in ("t5", "bart", "transformer", "pegasus"):
        shape |= {"encoder_layers": int(rng.integers(1, 4)), "start": int(rng.integers(0, 9))}
    grouped = {"kv_heads": int(rng.choice([1, heads])), "rope_base": float(rng.choice([10_000, 500_000]))}
    if preset == "electra":  # more random layers would make all places alike
        embedding = int(rng.integers(8, 40))
        shape |= {"layers": min(shape["layers"], 2), "embedding": embedding, "generator": 2 * shape["dim"] // heads}
    return shape | (grouped if preset in ("llama", "olmo", "olmo2") else {})


def shaken(module: torch.nn.Module, number: int) -> torch.nn.Module:
    """Every weight random, norms and biases too, so that a swapped or forgotten one shows."""
    rng = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if name.endswith("embed_positions.weight") and "Sinusoidal" in type(module.get_submodule(name[:-7])).__name__:
                continue  # a formula, not a weight
            weight.copy_(torch.randn(weight.shape, generator=rng) * 0.3 + (0.5 if weight.dim() == 1 else 0))
    return module.eval()


def rows(model: TransformerModel, number: int) -> list[list[int]]:
    rng = np.random.default_rng(number)
    longest = min(24, model.longest)
    least = 2 if model.preset == "roberta" else 0  # its class counts no place at padding, whose id is 1
    return [rng.integers(least, model.config.vocab, size=n).tolist() for n in (longest, int(rng.integers(1, longest)), 1)]


def padded(texts: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    ids = torch.tensor([t + [0] * (longest - len(t)) for t in texts])
    return ids, torch.tensor([[1] * len(t) + [0] * (longest - len(t)) for t in texts])


def theirs(
    twin: torch.nn.Module, texts: list[list[int]], targets: list[list[int]] | None = None
) -> list[dict[str, np.ndarray]]:
    """The outputs of the Hugging Face class for a padded batch, row by row."""
    ids, mask = padded(texts)
    reads = {}
    if targets is not None:
        start = twin.config.decoder_start_token_id
        reads["decoder_input_ids"] = padded([[start, *target[:-1]] for target in targets])[0]
    with torch.no_grad():
        out = twin(input_ids=ids, attention_mask=mask, **reads)
    about = "rtd" if isinstance(twin, hf.ElectraForPreTraining) else "lm"
    scores = out.prediction_logits if "prediction_logits" in out else out.logits
    outputs = [{about: scores[n, : len(t)].numpy()} for n, t in enumerate(texts if targets is None else targets)]
    for n, row in enumerate(outputs):
        if "seq_relationship_logits" in out:
            row["nsp"] = out.seq_relationship_logits[n].numpy()
    return outputs


def gap(model: TransformerModel, twin: torch.nn.Module, number: int) -> float:
    texts = rows(model, number)
    targets = rows(model, number + 1000)[::-1] if model.family == "encoder-decoder" else None  # long sources, short targets
    ours, outputs = model.outputs_many(texts, targets), theirs(twin, texts, targets)
    assert [sorted(a) for a in ours] == [sorted(b) for b in outputs]
    assert all(a[name].shape == b[name].shape for a, b in zip(ours, outputs, strict=True) for name in a)
    differences = [np.abs(a[name] - b[name]) for a, b in zip(ours, outputs, strict=True) for name in a]
    spread = max(a.get("lm", a.get("rtd")).std() for a in ours)
    assert spread > 1e-3 or model.config.dim < 4  # a norm leaves two numbers only ±1
    assert all(np.isfinite(d).all() for d in differences)
    return max(float(d.max()) for d in differences)


def exported(preset: str, number: int, tokenizer: Tokenizer, folder: Path) -> float:
    """Our random model, opened by their class."""
    model = ex.build(preset, tokenizer=tokenizer, seed=number, device="cpu", **random_shape(number, preset))
    shaken(model.module, number)
    twin, report = CLASSES[preset].from_pretrained(ex.export(model, folder), output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    return gap(model, twin.eval(), number)


def usual(s: dict[str, int], vocab: int) -> dict[str, int]:
    """The settings that most classes name alike."""
    return {"vocab_size": vocab, "hidden_size": s["dim"], "num_hidden_layers": s["layers"], "num_attention_heads": s["heads"],
            "intermediate_size": s["hidden"], "max_position_embeddings": s["length"]}  # fmt: skip


def seq2seq(s: dict[str, int], vocab: int) -> dict[str, int]:
    """The settings of BART and Marian."""
    return {"vocab_size": vocab, "d_model": s["dim"], "encoder_layers": s["encoder_layers"], "decoder_layers": s["layers"],
            "encoder_attention_heads": s["heads"], "decoder_attention_heads": s["heads"], "encoder_ffn_dim": s["hidden"],
            "decoder_ffn_dim": s["hidden"], "max_position_embeddings": s["length"], "decoder_start_token_id": s["start"],
            "pad_token_id": s["start"], "bos_token_id": 0, "eos_token_id": 1, "forced_eos_token_id": None}  # fmt: skip


def llama_like(s: dict[str, int], vocab: int, **more: object) -> dict[str, object]:
    """The settings of Llama and of both OLMos."""
    rope = {"rope_type": "default", "rope_theta": s["rope_base"]}
    return {**usual(s, vocab), "num_key_value_heads": s["kv_heads"], "rope_parameters": rope, **more}


def deberta(s: dict[str, int], vocab: int) -> dict[str, object]:
    """The settings of DeBERTa v2 that ours has: no buckets, one projection for words and distances, a head that fills blanks."""
    return {**usual(s, vocab), "relative_attention": True, "legacy": False, "pos_att_type": "p2c|c2p", "share_att_key": True,
            "norm_rel_ebd": "layer_norm", "position_biased_input": False}  # fmt: skip


@LONG
def test_the_comparison_notices_one_wrong_weight(gpt2: TransformerModel, bert: TransformerModel, tmp_path: Path) -> None:
    for preset, architecture in CLASSES.items():
        tokenizer = PADDED if preset == "roberta" else bert.tokenizer if preset in BERTS else gpt2.tokenizer
        model = ex.build(preset, tokenizer=tokenizer, device="cpu", **random_shape(1, preset))
        shaken(model.module, 1)
        twin = architecture.from_pretrained(ex.export(model, tmp_path / preset)).eval()
        assert gap(model, twin, 1) <= LIMIT
        with torch.no_grad():
            model.module.layers[-1].attention.value.weight[0, 0] += 0.5
        assert gap(model, twin, 1) > LIMIT, preset


def adopted(preset: str, number: int, tokenizer: Tokenizer, folder: Path) -> float:
    """Their random model, opened by ours."""
    s, v = random_shape(number, preset), tokenizer.vocabulary.size
    odd, no_ends = number % 2, {"pad_token_id": None, "eos_token_id": None}
    configs: dict[str, Callable[[], dict[str, Any]]] = {
        "bert": lambda: usual(s, v),
        "deberta": lambda: {**deberta(s, v), "type_vocab_size": odd * 2},
        "spanbert": lambda: {**usual(s, v), "type_vocab_size": 1 + odd},
        "distilbert": lambda: {"vocab_size": v, "dim": s["dim"], "n_layers": s["layers"], "n_heads": s["heads"], "hidden_dim": s["hidden"],
                               "max_position_embeddings": s["length"], "activation": ["gelu", "relu"][odd]},
        "gpt2": lambda: {"vocab_size": v, "n_embd": s["dim"], "n_layer": s["layers"], "n_head": s["heads"], "n_inner": s["hidden"],
                         "n_positions": s["length"], "bos_token_id": 0, "eos_token_id": 0},
        "gpt": lambda: {"vocab_size": v, "n_embd": s["dim"], "n_layer": s["layers"], "n_head": s["heads"], "n_positions": s["length"]},
        "llama": lambda: llama_like(s, v, tie_word_embeddings=bool(odd)),
        "t5": lambda: {"vocab_size": v, "d_model": s["dim"], "d_kv": s["dim"] // s["heads"], "d_ff": s["hidden"],
                       "num_layers": s["encoder_layers"], "num_decoder_layers": s["layers"], "num_heads": s["heads"],
                       "decoder_start_token_id": s["start"], "feed_forward_proj": ["relu", "gated-gelu"][odd],
                       "tie_word_embeddings": bool(number // 2 % 2)},
        "bart": lambda: {**seq2seq(s, v), "activation_function": "gelu"},
        "transformer": lambda: {**seq2seq(s, v), "scale_embedding": True, "activation_function": "relu"},
        "roberta": lambda: {**usual(s, v), "max_position_embeddings": s["length"] + 2, "type_vocab_size": 1, "layer_norm_eps": 1e-5},
        "olmo": lambda: llama_like(s, v, tie_word_embeddings=bool(odd), **no_ends),
        "olmo2": lambda: llama_like(s, v, tie_word_embeddings=bool(odd), rms_norm_eps=1e-6, **no_ends),
        "pegasus": lambda: {**seq2seq(s, v), "scale_embedding": bool(odd), "activation_function": "relu"},
        "electra": lambda: {**usual(s, v), "embedding_size": s["embedding"]},
    }  # fmt: skip
    architecture = CLASSES[preset]
    twin = shaken(architecture(architecture.config_class(**configs[preset]())), number)
    twin.save_pretrained(folder)
    tokenizer.save(folder / "tokenizer.json")
    return gap(ex.load(folder, device="cpu"), twin, number)


@pytest.mark.parametrize("preset", some(CLASSES, "bert", "gpt2", "llama", "transformer", "deberta"))
def test_random_models_are_equal_both_ways(
    preset: str, request: pytest.FixtureRequest, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    tokenizer = PADDED if preset == "roberta" else request.getfixturevalue("bert" if preset in BERTS else "gpt2").tokenizer
    largest = {}
    for way, run in (("ours → Hugging Face", exported), ("Hugging Face → ours", adopted)):
        largest[way] = [run(preset, n, tokenizer, tmp_path / f"{run.__name__}-{n}") for n in CASES]
    for way, gaps in largest.items():
        line = f"{CLASSES[preset].__name__:22} {way:20} {len(gaps):3} models × 3 lengths, padded: largest difference {max(gaps):.1e}"
        record_property(TABLE + "twins: our models against Hugging Face's classes", line)
    assert max(max(gaps) for gaps in largest.values()) <= LIMIT


def test_shipped_models_and_their_tokenizers_export(shipped: TransformerModel, tmp_path: Path) -> None:
    folder = ex.export(shipped, tmp_path / "export")
    twin = CLASSES[shipped.preset].from_pretrained(folder).eval()
    tokenizer = hf.PreTrainedTokenizerFast.from_pretrained(folder)
    text = "The animal didn't cross the street. Zoë saw 3 zebras 🦓 <b>!"
    assert tokenizer(text)["input_ids"] == shipped.tokenizer.encode(text).ids.tolist()
    ids = shipped.tokenizer.encode(text).ids.tolist()
    assert np.abs(theirs(twin, [ids])[0]["lm"] - shipped.logits(text)).max() <= LIMIT
    back = ex.load(folder, device="cpu")
    assert np.array_equal(back.logits(text), shipped.logits(text))
    assert back.tokenizer.seen == shipped.tokenizer.seen


def test_a_sentence_pair_keeps_its_segments(bert: TransformerModel, tmp_path: Path) -> None:
    twin = hf.BertForPreTraining.from_pretrained(ex.export(bert, tmp_path / "export")).eval()
    pair = ("The dog was tired.", "It didn't cross the road.")
    tokens = bert.tokenizer.encode(*pair)
    with torch.no_grad():
        out = twin(torch.tensor([tokens.ids.tolist()]), token_type_ids=torch.tensor([tokens.segments]))
    ours = bert.outputs(pair)
    assert np.abs(out.prediction_logits[0].numpy() - ours["lm"]).max() <= LIMIT
    assert np.abs(out.seq_relationship_logits[0].numpy() - ours["nsp"]).max() <= LIMIT


def test_what_has_no_twin_is_refused(bert: TransformerModel, tmp_path: Path) -> None:
    with pytest.raises(ex.ExplorerError, match="no Hugging Face class"):
        ex.export(ex.build("bert", tokenizer=bert.tokenizer, norm_place="pre"), tmp_path / "odd")
    config = hf.GPT2Config(vocab_size=40, n_embd=8, n_layer=1, n_head=1, scale_attn_by_inverse_layer_idx=True)
    hf.GPT2LMHeadModel(config).save_pretrained(tmp_path / "scaled")
    with pytest.raises(ex.ExplorerError, match="scales its attention by layer"):
        ex.load(tmp_path / "scaled", native=True)
