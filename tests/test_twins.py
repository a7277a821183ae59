"""Our models against Hugging Face's classes, both ways: the proof that our model code is right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import sample
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    PreTrainedTokenizerFast,
)  # fmt: skip

import explorer as ex
from explorer.model import OwnModel
from explorer.text.tokenizers import Tokenizer

CASES = sample(40, 8)
CLASSES = {"bert": BertForPreTraining, "gpt": OpenAIGPTLMHeadModel, "gpt2": GPT2LMHeadModel, "llama": LlamaForCausalLM}
LIMIT = 1e-4


def random_shape(number: int, preset: str) -> dict[str, int]:
    chance = np.random.default_rng(number)
    heads = int(chance.choice([1, 2, 3, 4]))
    found = {"heads": heads, "dim": heads * 2 * int(chance.integers(1, 10)), "layers": int(chance.integers(1, 5)),
             "hidden": int(chance.integers(3, 90)), "length": int(chance.integers(24, 60))}  # fmt: skip
    if preset == "gpt":
        found["hidden"] = 4 * found["dim"]
    return found | ({"kv_heads": int(chance.choice([1, heads]))} if preset == "llama" else {})


def shaken(module: torch.nn.Module, number: int) -> torch.nn.Module:
    """Every weight random, norms and biases too, so that a swapped or forgotten one shows."""
    chance = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=chance) * 0.3 + (0.5 if weight.dim() == 1 else 0))
    return module.eval()


def rows(model: OwnModel, number: int) -> list[list[int]]:
    chance = np.random.default_rng(number)
    longest = min(24, model.longest)
    return [chance.integers(0, model.config.vocab, size=n).tolist() for n in (longest, int(chance.integers(1, longest)), 1)]


def theirs(twin: torch.nn.Module, texts: list[list[int]]) -> list[dict[str, np.ndarray]]:
    """What the Hugging Face class says to a padded batch, row by row."""
    longest = max(map(len, texts))
    ids = torch.tensor([t + [0] * (longest - len(t)) for t in texts])
    mask = torch.tensor([[1] * len(t) + [0] * (longest - len(t)) for t in texts])
    with torch.no_grad():
        out = twin(input_ids=ids, attention_mask=mask)
    lm = out.prediction_logits if "prediction_logits" in out else out.logits
    found = [{"lm": lm[n, : len(t)].numpy()} for n, t in enumerate(texts)]
    for n, row in enumerate(found):
        if "seq_relationship_logits" in out:
            row["nsp"] = out.seq_relationship_logits[n].numpy()
    return found


def gap(model: OwnModel, twin: torch.nn.Module, number: int) -> float:
    texts = rows(model, number)
    ours, hf = model.outputs_many(texts), theirs(twin, texts)
    assert [sorted(a) for a in ours] == [sorted(b) for b in hf]
    return max(float(np.abs(a[name] - b[name]).max()) for a, b in zip(ours, hf, strict=True) for name in a)


def exported(preset: str, number: int, tokenizer: Tokenizer, folder: Path) -> float:
    """Our random model, opened by their class."""
    model = ex.build(preset, tokenizer=tokenizer, seed=number, device="cpu", **random_shape(number, preset))
    shaken(model.module, number)
    twin, report = CLASSES[preset].from_pretrained(ex.export(model, folder), output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    return gap(model, twin.eval(), number)


def adopted(preset: str, number: int, tokenizer: Tokenizer, folder: Path) -> float:
    """Their random model, opened by ours."""
    s, v = random_shape(number, preset), tokenizer.vocabulary.size
    configs = {
        "bert": lambda: BertConfig(vocab_size=v, hidden_size=s["dim"], num_hidden_layers=s["layers"], num_attention_heads=s["heads"],
                                   intermediate_size=s["hidden"], max_position_embeddings=s["length"]),
        "gpt2": lambda: GPT2Config(vocab_size=v, n_embd=s["dim"], n_layer=s["layers"], n_head=s["heads"], n_inner=s["hidden"],
                                   n_positions=s["length"], bos_token_id=0, eos_token_id=0),
        "gpt": lambda: OpenAIGPTConfig(vocab_size=v, n_embd=s["dim"], n_layer=s["layers"], n_head=s["heads"], n_positions=s["length"]),
        "llama": lambda: LlamaConfig(vocab_size=v, hidden_size=s["dim"], num_hidden_layers=s["layers"], num_attention_heads=s["heads"],
                                     num_key_value_heads=s["kv_heads"], intermediate_size=s["hidden"],
                                     max_position_embeddings=s["length"], tie_word_embeddings=bool(number % 2)),
    }  # fmt: skip
    twin = shaken(CLASSES[preset](configs[preset]()), number)
    twin.save_pretrained(folder)
    tokenizer.save(folder / "tokenizer.json")
    return gap(ex.load(folder, device="cpu"), twin, number)


@pytest.mark.parametrize("preset", CLASSES)
def test_random_models_are_equal_both_ways(
    preset: str, request: pytest.FixtureRequest, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    tokenizer = request.getfixturevalue("bert" if preset == "bert" else "gpt2").tokenizer
    found = {}
    for way, run in (("ours → Hugging Face", exported), ("Hugging Face → ours", adopted)):
        found[way] = [run(preset, n, tokenizer, tmp_path / f"{run.__name__}-{n}") for n in CASES]
    for way, gaps in found.items():
        line = f"{CLASSES[preset].__name__:22} {way:20} {len(gaps):3} models × 3 lengths, padded: largest difference {max(gaps):.1e}"
        record_property("table", line)
    assert max(max(gaps) for gaps in found.values()) <= LIMIT


def test_shipped_models_and_their_tokenizers_export(shipped: OwnModel, tmp_path: Path) -> None:
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


def test_a_sentence_pair_keeps_its_segments(bert: OwnModel, tmp_path: Path) -> None:
    twin = BertForPreTraining.from_pretrained(ex.export(bert, tmp_path / "export")).eval()
    pair = ("The dog was tired.", "It didn't cross the road.")
    tokens = bert.tokenizer.encode(*pair)
    with torch.no_grad():
        out = twin(torch.tensor([tokens.ids.tolist()]), token_type_ids=torch.tensor([tokens.segments]))
    ours = bert.outputs(pair)
    assert np.abs(out.prediction_logits[0].numpy() - ours["lm"]).max() <= LIMIT
    assert np.abs(out.seq_relationship_logits[0].numpy() - ours["nsp"]).max() <= LIMIT


def test_a_masked_language_model_without_next_sentence(bert: OwnModel, tmp_path: Path) -> None:
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


def test_what_has_no_twin_is_refused(bert: OwnModel, gpt2: OwnModel, tmp_path: Path) -> None:
    odd = ex.build("bert", tokenizer=bert.tokenizer, norm_place="pre")
    with pytest.raises(ex.ExplorerError, match="no Hugging Face class"):
        ex.export(odd, tmp_path / "odd")
    GPT2LMHeadModel(
        GPT2Config(vocab_size=40, n_embd=8, n_layer=1, n_head=1, scale_attn_by_inverse_layer_idx=True)
    ).save_pretrained(tmp_path / "scaled")
    with pytest.raises(ex.ExplorerError, match="scales its attention by layer"):
        ex.load(tmp_path / "scaled")
