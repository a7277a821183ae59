"""Our models against Hugging Face's classes, both ways: the proof that our model code is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import TABLE, sample, some
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    Olmo2Config,
    Olmo2ForCausalLM,
    OlmoConfig,
    OlmoForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer

CASES = sample(40, 8)
CLASSES = {"bert": BertForPreTraining, "gpt": OpenAIGPTLMHeadModel, "gpt2": GPT2LMHeadModel, "llama": LlamaForCausalLM,
           "t5": T5ForConditionalGeneration, "bart": BartForConditionalGeneration, "transformer": MarianMTModel,
           "roberta": RobertaForMaskedLM, "olmo": OlmoForCausalLM, "olmo2": Olmo2ForCausalLM,
           "pegasus": PegasusForConditionalGeneration, "deberta": DebertaV2ForMaskedLM,
           "spanbert": BertForMaskedLM, "electra": ElectraForPreTraining,
           "distilbert": DistilBertForMaskedLM}  # fmt: skip
BERTS = ("bert", "spanbert", "electra", "distilbert")  # whose tokenizer is BERT's
LIMIT = 1e-4
PADDED = ex.tokenizer("byte-bpe", ["The dog ran home, and it was tired."], size=300, specials=ex.presets()["roberta"].specials)


def random_shape(number: int, preset: str) -> dict[str, int]:
    rng = np.random.default_rng(number)
    heads = int(rng.choice([1, 2, 3, 4]))
    gaps = {"heads": heads, "dim": heads * 2 * int(rng.integers(1, 10)), "layers": int(rng.integers(1, 5)),
             "hidden": int(rng.integers(3, 90)), "length": int(rng.integers(24, 60))}  # fmt: skip
    if preset == "gpt":
        gaps["hidden"] = 4 * gaps["dim"]
    if preset in ("t5", "bart", "transformer", "pegasus"):
        gaps |= {"encoder_layers": int(rng.integers(1, 4)), "start": int(rng.integers(0, 9))}
    grouped = {"kv_heads": int(rng.choice([1, heads])), "rope_base": float(rng.choice([10_000, 500_000]))}
    if preset == "electra":  # more random layers would make all places alike
        gaps |= {
            "layers": min(gaps["layers"], 2),
            "embedding": int(rng.integers(8, 40)),
            "generator": 2 * gaps["dim"] // heads,
        }
    return gaps | (grouped if preset in ("llama", "olmo", "olmo2") else {})


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
    """What the Hugging Face class says to a padded batch, row by row."""
    ids, mask = padded(texts)
    reads = {}
    if targets is not None:
        start = twin.config.decoder_start_token_id
        reads["decoder_input_ids"] = padded([[start, *target[:-1]] for target in targets])[0]
    with torch.no_grad():
        out = twin(input_ids=ids, attention_mask=mask, **reads)
    about = "rtd" if isinstance(twin, ElectraForPreTraining) else "lm"
    scores = out.prediction_logits if "prediction_logits" in out else out.logits
    gaps = [{about: scores[n, : len(t)].numpy()} for n, t in enumerate(texts if targets is None else targets)]
    for n, row in enumerate(gaps):
        if "seq_relationship_logits" in out:
            row["nsp"] = out.seq_relationship_logits[n].numpy()
    return gaps


def gap(model: TransformerModel, twin: torch.nn.Module, number: int) -> float:
    texts = rows(model, number)
    targets = rows(model, number + 1000)[::-1] if model.family == "encoder-decoder" else None  # long sources, short targets
    ours, hf = model.outputs_many(texts, targets), theirs(twin, texts, targets)
    assert [sorted(a) for a in ours] == [sorted(b) for b in hf]
    assert all(a[name].shape == b[name].shape for a, b in zip(ours, hf, strict=True) for name in a)
    differences = [np.abs(a[name] - b[name]) for a, b in zip(ours, hf, strict=True) for name in a]
    says = (
        any(a.get("lm", a.get("rtd")).std() > 1e-3 for a in ours) or model.config.dim < 4
    )  # a norm leaves two numbers only ±1
    assert says and all(np.isfinite(d).all() for d in differences)
    return max(float(d.max()) for d in differences)


def exported(preset: str, number: int, tokenizer: Tokenizer, folder: Path) -> float:
    """Our random model, opened by their class."""
    model = ex.build(preset, tokenizer=tokenizer, seed=number, device="cpu", **random_shape(number, preset))
    shaken(model.module, number)
    twin, report = CLASSES[preset].from_pretrained(ex.export(model, folder), output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    return gap(model, twin.eval(), number)


def seq2seq(s: dict[str, int], vocab: int) -> dict[str, int]:
    """The settings of BART and Marian."""
    return {"vocab_size": vocab, "d_model": s["dim"], "encoder_layers": s["encoder_layers"], "decoder_layers": s["layers"],
            "encoder_attention_heads": s["heads"], "decoder_attention_heads": s["heads"], "encoder_ffn_dim": s["hidden"],
            "decoder_ffn_dim": s["hidden"], "max_position_embeddings": s["length"], "decoder_start_token_id": s["start"],
            "pad_token_id": s["start"], "bos_token_id": 0, "eos_token_id": 1, "forced_eos_token_id": None}  # fmt: skip


def turned(s: dict[str, int]) -> dict[str, object]:
    """How fast RoPE turns."""
    return {"rope_parameters": {"rope_type": "default", "rope_theta": s["rope_base"]}}


def llama_like(s: dict[str, int], vocab: int) -> dict[str, object]:
    """The settings of both OLMos."""
    return {"vocab_size": vocab, "hidden_size": s["dim"], "num_hidden_layers": s["layers"], "num_attention_heads": s["heads"],
            "num_key_value_heads": s["kv_heads"], "intermediate_size": s["hidden"], "max_position_embeddings": s["length"],
            "pad_token_id": None, "eos_token_id": None, **turned(s)}  # fmt: skip


def deberta(s: dict[str, int], vocab: int) -> dict[str, object]:
    """The settings of DeBERTa v2 that ours has: no buckets, one projection for words and distances, a head that fills blanks."""
    return {"vocab_size": vocab, "hidden_size": s["dim"], "num_hidden_layers": s["layers"], "num_attention_heads": s["heads"],
            "intermediate_size": s["hidden"], "max_position_embeddings": s["length"], "relative_attention": True, "legacy": False,
            "pos_att_type": "p2c|c2p", "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False}  # fmt: skip


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
    configs = {
        "bert": lambda: BertConfig(vocab_size=v, hidden_size=s["dim"], num_hidden_layers=s["layers"], num_attention_heads=s["heads"],
                                   intermediate_size=s["hidden"], max_position_embeddings=s["length"]),
        "deberta": lambda: DebertaV2Config(**deberta(s, v), type_vocab_size=number % 2 * 2),
        "spanbert": lambda: BertConfig(vocab_size=v, hidden_size=s["dim"], num_hidden_layers=s["layers"], type_vocab_size=1 + number % 2,
                                       num_attention_heads=s["heads"], intermediate_size=s["hidden"], max_position_embeddings=s["length"]),
        "distilbert": lambda: DistilBertConfig(vocab_size=v, dim=s["dim"], n_layers=s["layers"], n_heads=s["heads"], hidden_dim=s["hidden"],
                                               max_position_embeddings=s["length"], activation=["gelu", "relu"][number % 2]),
        "gpt2": lambda: GPT2Config(vocab_size=v, n_embd=s["dim"], n_layer=s["layers"], n_head=s["heads"], n_inner=s["hidden"],
                                   n_positions=s["length"], bos_token_id=0, eos_token_id=0),
        "gpt": lambda: OpenAIGPTConfig(vocab_size=v, n_embd=s["dim"], n_layer=s["layers"], n_head=s["heads"], n_positions=s["length"]),
        "llama": lambda: LlamaConfig(vocab_size=v, hidden_size=s["dim"], num_hidden_layers=s["layers"], num_attention_heads=s["heads"],
                                     num_key_value_heads=s["kv_heads"], intermediate_size=s["hidden"],
                                     max_position_embeddings=s["length"], tie_word_embeddings=bool(number % 2), **turned(s)),
        "t5": lambda: T5Config(vocab_size=v, d_model=s["dim"], d_kv=s["dim"] // s["heads"], d_ff=s["hidden"],
                               num_layers=s["encoder_layers"],
                               num_decoder_layers=s["layers"], num_heads=s["heads"], decoder_start_token_id=s["start"],
                               feed_forward_proj=["relu", "gated-gelu"][number % 2], tie_word_embeddings=bool(number // 2 % 2)),
        "bart": lambda: BartConfig(**seq2seq(s, v), activation_function="gelu"),
        "transformer": lambda: MarianConfig(**seq2seq(s, v), scale_embedding=True, activation_function="relu"),
        "roberta": lambda: RobertaConfig(vocab_size=v, hidden_size=s["dim"], num_hidden_layers=s["layers"],
                                         num_attention_heads=s["heads"], intermediate_size=s["hidden"],
                                         max_position_embeddings=s["length"] + 2, type_vocab_size=1, layer_norm_eps=1e-5),
        "olmo": lambda: OlmoConfig(**llama_like(s, v), tie_word_embeddings=bool(number % 2)),
        "olmo2": lambda: Olmo2Config(**llama_like(s, v), tie_word_embeddings=bool(number % 2), rms_norm_eps=1e-6),
        "pegasus": lambda: PegasusConfig(**seq2seq(s, v), scale_embedding=bool(number % 2), activation_function="relu"),
        "electra": lambda: ElectraConfig(vocab_size=v, embedding_size=s["embedding"], hidden_size=s["dim"],
                                         num_hidden_layers=s["layers"], num_attention_heads=s["heads"],
                                         intermediate_size=s["hidden"], max_position_embeddings=s["length"]),
    }  # fmt: skip
    twin = shaken(CLASSES[preset](configs[preset]()), number)
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
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    text = "The animal didn't cross the street. Zoë saw 3 zebras 🦓 <b>!"
    assert tokenizer(text)["input_ids"] == shipped.tokenizer.encode(text).ids.tolist()
    ids = shipped.tokenizer.encode(text).ids.tolist()
    assert np.abs(theirs(twin, [ids])[0]["lm"] - shipped.logits(text)).max() <= LIMIT
    back = ex.load(folder, device="cpu")
    assert np.array_equal(back.logits(text), shipped.logits(text))
    assert back.tokenizer.seen == shipped.tokenizer.seen


def test_a_sentence_pair_keeps_its_segments(bert: TransformerModel, tmp_path: Path) -> None:
    twin = BertForPreTraining.from_pretrained(ex.export(bert, tmp_path / "export")).eval()
    pair = ("The dog was tired.", "It didn't cross the road.")
    tokens = bert.tokenizer.encode(*pair)
    with torch.no_grad():
        out = twin(torch.tensor([tokens.ids.tolist()]), token_type_ids=torch.tensor([tokens.segments]))
    ours = bert.outputs(pair)
    assert np.abs(out.prediction_logits[0].numpy() - ours["lm"]).max() <= LIMIT
    assert np.abs(out.seq_relationship_logits[0].numpy() - ours["nsp"]).max() <= LIMIT


def test_a_masked_language_model_without_next_sentence(bert: TransformerModel, tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=bert.config.vocab, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20
    )
    twin = shaken(BertForMaskedLM(config), 0)
    twin.save_pretrained(tmp_path)
    bert.tokenizer.save(tmp_path / "tokenizer.json")
    ours = ex.load(tmp_path, device="cpu")
    assert np.abs(theirs(twin, [[2, 9, 3]])[0]["lm"] - ours.logits([2, 9, 3])).max() <= LIMIT
    back = ex.export(ours, tmp_path / "again")
    assert (
        np.abs(theirs(BertForMaskedLM.from_pretrained(back).eval(), [[2, 9, 3]])[0]["lm"] - ours.logits([2, 9, 3])).max()
        <= LIMIT
    )


def test_what_has_no_twin_is_refused(bert: TransformerModel, gpt2: TransformerModel, tmp_path: Path) -> None:
    odd = ex.build("bert", tokenizer=bert.tokenizer, norm_place="pre")
    with pytest.raises(ex.ExplorerError, match="no Hugging Face class"):
        ex.export(odd, tmp_path / "odd")
    GPT2LMHeadModel(
        GPT2Config(vocab_size=40, n_embd=8, n_layer=1, n_head=1, scale_attn_by_inverse_layer_idx=True)
    ).save_pretrained(tmp_path / "scaled")
    with pytest.raises(ex.ExplorerError, match="scales its attention by layer"):
        ex.load(tmp_path / "scaled", native=True)
