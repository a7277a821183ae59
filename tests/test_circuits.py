"""Patching, writes to the vocabulary, flow and lengths of α·v·W_O, each against Hugging Face's classes and formulas written out."""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from safetensors.numpy import load_file
from test_twins import CLASSES
from torch import Tensor, nn

import explorer as ex
from explorer.app.lessons.heads import questions as lesson
from explorer.models.transformer import TransformerModel
from explorer.records import InformationFlow, PatchSweep
from explorer.views import VIEWS

TEXT = "The animal was too tired."
Inputs = dict[str, Tensor]
PAIRS = {
    "bert": ("Anna was hungry, so [MASK] ate.", "Tom was hungry, so [MASK] ate."),
    "gpt2": ("The dog was tired because", "The cat was tired because"),
    "bart": ("The dog was tired.", "The cat was tired."),
}
ANSWERS = {"bert": ("she", "he"), "gpt2": ("·it", "·he"), "bart": ("·dog", "·cat")}
PARTS = {  # where each class makes what is patched, by layer
    "bert": {"state": "bert.encoder.layer.{}", "attention": "bert.encoder.layer.{}.attention.output.dense",
             "feed-forward": "bert.encoder.layer.{}.output.dense"},
    "gpt2": {"state": "transformer.h.{}", "attention": "transformer.h.{}.attn.c_proj", "feed-forward": "transformer.h.{}.mlp.c_proj"},
    "bart": {"state": "model.encoder.layers.{}", "attention": "model.encoder.layers.{}.self_attn.out_proj",
             "feed-forward": "model.encoder.layers.{}.fc2"},
}  # fmt: skip


@cache
def pair(name: str) -> tuple[TransformerModel, Any, dict[str, np.ndarray]]:
    """A shipped model, the same in its class, and its exported weights."""
    ours = ex.load(name, device="cpu")
    assert isinstance(ours, TransformerModel)
    with TemporaryDirectory() as folder:
        place = ex.export(ours, Path(folder) / name)
        weights = load_file(Path(place) / "model.safetensors")
        return ours, CLASSES[ours.preset].from_pretrained(place, attn_implementation="eager").eval(), weights


def scores(twin: nn.Module, given: Inputs) -> np.ndarray:
    with torch.no_grad():
        out = twin(**given)
    return (out.prediction_logits if "prediction_logits" in out else out.logits)[0].numpy()


def read_by_theirs(model: TransformerModel, text: str, target: str | None) -> Inputs:
    given = {"input_ids": torch.tensor(model.tokens(text).ids)[None]}
    return given if target is None else given | {"decoder_input_ids": torch.tensor(model.reads(target).ids)[None]}


def first_of(out: Any) -> Tensor:
    value: Tensor = out[0] if isinstance(out, tuple) else out
    return value


def patched(twin: nn.Module, part: nn.Module, clean: Inputs, changed: Inputs, position: int) -> np.ndarray:
    """The scores for the changed text with one vector of one module taken from the clean text: two plain hooks."""
    states: list[Tensor] = []
    hook = part.register_forward_hook(lambda module, args, out: states.append(first_of(out).clone()))
    scores(twin, clean)
    hook.remove()

    def put(module: nn.Module, args: Any, out: Any) -> Any:
        x = first_of(out).clone()
        x[0, position] = states[0][0, position]
        return (x, *out[1:]) if isinstance(out, tuple) else x

    hook = part.register_forward_hook(put)
    rows = scores(twin, changed)
    hook.remove()
    return rows


@LONG
@pytest.mark.parametrize("name", PAIRS)
def test_a_sweep_is_a_loop_of_hooks_on_theirs(name: str) -> None:
    ours, twin, _ = pair(name)
    target, row = ("The dog slept.", {"row": 2}) if name == "bart" else (None, {})
    sweep = ex.analysis.patch_sweep(ours, *PAIRS[name], target=target, answers=ANSWERS[name], **row)
    assert sweep.row == {"bert": 6, "bart": 2}.get(name, len(sweep.clean) - 1) and sweep.answers == ANSWERS[name]
    clean, changed = (read_by_theirs(ours, text, target) for text in PAIRS[name])
    right, other = (int(ours.tokenizer.encode(text.replace("·", " "), special=False).ids[0]) for text in ANSWERS[name])
    before, after = (scores(twin, given)[sweep.row] for given in (clean, changed))
    ends = before[right] - before[other], after[right] - after[other]
    np.testing.assert_allclose(sweep.difference, ends, atol=1e-4)
    assert list(sweep.restored) == ["state", "attention", "feed-forward"]
    differs = np.flatnonzero(sweep.clean.ids != sweep.changed.ids)  # the one word that was changed enters and restores all
    np.testing.assert_allclose(sweep.restored["state"][0], np.arange(len(sweep.clean)) == differs, atol=1e-4)
    for part, restored in sweep.restored.items():
        for layer in range(2):
            module = twin.get_submodule(PARTS[name][part].format(layer))
            row = layer + 1 if part == "state" else layer
            for position in range(len(sweep.clean)):
                expected = patched(twin, module, clean, changed, position)[sweep.row]
                wanted = (expected[right] - expected[other] - ends[1]) / (ends[0] - ends[1])
                assert abs(restored[row, position] - wanted) <= 1e-3, (part, layer, position)


def test_theirs_are_swept_like_ours(tmp_path: Path) -> None:
    ours, _, _ = pair("gpt2")
    theirs = ex.load(ex.export(ours, tmp_path / "x"), native=False, device="cpu")
    first, two = (ex.analysis.patch_sweep(model, *PAIRS["gpt2"], answers=ANSWERS["gpt2"]) for model in (ours, theirs))
    for part, restored in first.restored.items():
        np.testing.assert_allclose(restored, two.restored[part], atol=1e-3)
    assert PatchSweep.read(first.write(tmp_path / "y.npz")) == first


@pytest.mark.parametrize(
    ("changed", "options", "says"),
    [
        ("The dog ran far away.", {}, "tokens and the changed one"),
        ("The dog ran.", {}, "Both texts are the same"),
        ("The cat ran.", {"row": 99}, "row"),
        ("The cat ran.", {"answers": ("extraordinarily", "·cat")}, "an answer is one"),
        ("The cat ran.", {"answers": "dog"}, "must be .a text, a text."),
        ("The cat ran.", {"answers": ("·cat", "·cat")}, "Name others"),
        ("The cat ran.", {"stream": "cross"}, "stream in gpt2"),
    ],
)
def test_what_cannot_be_swept_is_refused(changed: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ex.ExplorerError, match=says):
        ex.analysis.patch_sweep(pair("gpt2")[0], "The dog ran.", changed, **options)


def normed(x: np.ndarray, gain: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Layer normalisation, written out."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain + shift


def test_a_head_of_gpt2_writes_what_its_exported_weights_say() -> None:
    ours, twin, w = pair("gpt2")
    with torch.no_grad():
        states = twin(torch.tensor(ours.tokens(TEXT).ids)[None], output_hidden_states=True).hidden_states
    dim = states[0].shape[-1]
    wide, unembed = dim // 4, w["transformer.wte.weight"].astype(np.float64)
    for layer, head, position in ((0, 1, 2), (1, 3, 4)):
        at = f"transformer.h.{layer}."
        x = normed(states[layer][0, position].numpy().astype(np.float64), w[at + "ln_1.weight"], w[at + "ln_1.bias"])
        columns = slice(2 * dim + head * wide, 2 * dim + (head + 1) * wide)
        v = x @ w[at + "attn.c_attn.weight"][:, columns] + w[at + "attn.c_attn.bias"][columns]
        wrote = v @ w[at + "attn.c_proj.weight"][head * wide : (head + 1) * wide]
        added = unembed @ ((wrote - wrote.mean()) * w["transformer.ln_f.weight"])
        writes = ex.analysis.head_writes(ours, TEXT, layer=layer, head=head, position=position)
        np.testing.assert_allclose(writes.scores, added - added.mean(), atol=1e-4)
        for ids, scores in zip(writes.ids, (-writes.scores, writes.scores), strict=True):
            assert ids.tolist() == np.argsort(scores, kind="stable")[:10].tolist()
        assert writes.texts[1][0] == ours.tokenizer.text_of(int(writes.ids[1, 0]))


def test_a_unit_writes_its_row_of_the_second_matrix() -> None:
    for name, second in (("gpt2", "transformer.h.1.mlp.c_proj.weight"), ("bert", "bert.encoder.layer.1.output.dense.weight")):
        ours, _, w = pair(name)
        for unit in (0, 7, 31):
            if name == "gpt2":
                row = w[second][unit].astype(np.float64)
                added = w["transformer.wte.weight"] @ ((row - row.mean()) * w["transformer.ln_f.weight"])
            else:
                row = w["cls.predictions.transform.dense.weight"].astype(np.float64) @ w[second][:, unit]
                row = (row - row.mean()) * w["cls.predictions.transform.LayerNorm.weight"]
                added = w["bert.embeddings.word_embeddings.weight"] @ row
            writes = ex.analysis.unit_writes(ours, layer=1, unit=unit)
            np.testing.assert_allclose(writes.scores, added - added.mean(), atol=1e-4)
    assert any("activation" in note for note in writes.notes), "what BERT's output layer does besides is said"


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_unit_is_most_active_where_a_hook_of_pytorch_says(name: str) -> None:
    """What goes into the second matrix of the feed-forward layer, taken by a hook of PyTorch from the class of Hugging Face."""
    ours, theirs, _ = pair(name)
    texts = ["The dog ran home.", "It was cold, and Anna had no milk.", "The cat slept by the river."]
    second = theirs.transformer.h[1].mlp.c_proj if name == "gpt2" else theirs.bert.encoder.layer[1].output.dense
    seen: list[np.ndarray] = []
    hook = second.register_forward_pre_hook(lambda _, given: seen.append(given[0][0].detach().numpy()))
    rows = [ours.tokens(text) for text in texts]
    with torch.no_grad():
        for row in rows:
            theirs(input_ids=torch.tensor(row.ids.tolist())[None])
    hook.remove()
    for unit in (0, 7, 31):
        found = ex.analysis.unit_firings(ours, texts, layer=1, unit=unit, top=2)
        values = [units[~np.array(row.special), unit] for units, row in zip(seen, rows, strict=True)]
        np.testing.assert_allclose(found.values, np.concatenate(values), atol=1e-5)
        np.testing.assert_allclose(found.activations, sorted((part.max() for part in values), reverse=True)[:2], atol=1e-5)
        assert found.active == float((np.concatenate(values) > 0).mean())
        for token, use in zip(found.tokens, found.uses, strict=True):
            assert token and f"[{token}]" in use and use.replace("[", "").replace("]", "") in " | ".join(texts)
    for wrong, says in (({"layer": 9}, "layer"), ({"unit": 9999}, "unit"), ({"stream": "cross"}, "stream of")):
        with pytest.raises(ex.ExplorerError, match=says):
            ex.analysis.unit_firings(ours, texts, **{"layer": 0, "unit": 0, **wrong})
    with pytest.raises(ex.ExplorerError, match="no text that"):
        ex.analysis.unit_firings(ours, [], layer=0, unit=0)


def test_what_writes_nothing_is_refused() -> None:
    ours, place = pair("gpt2")[0], {"layer": 0, "head": 0, "position": 0}
    for wrong, says in (({"layer": 9}, "layer"), ({"head": 9}, "head"), ({"position": 99}, "position"),
                        ({"stream": "encoder"}, "stream of gpt2")):  # fmt: skip
        with pytest.raises(ex.ExplorerError, match=says):
            ex.analysis.head_writes(ours, TEXT, **place | wrong)
    with pytest.raises(ex.ExplorerError, match="unit in decoder layer 0"):
        ex.analysis.unit_writes(ours, layer=0, unit=99_999)
    with pytest.raises(ex.ExplorerError, match="no feed-forward units"):
        ex.analysis.unit_writes(ex.build("bart", tokenizer=ours.tokenizer), layer=0, unit=0, stream="cross")
    with pytest.raises(ex.ExplorerError, match="no scores over a vocabulary"):
        ex.analysis.unit_writes(ex.build("electra", tokenizer=pair("bert")[0].tokenizer), layer=0, unit=0)


def share_by_hand(parts: list[np.ndarray], whole: np.ndarray) -> np.ndarray:
    """The published measure for each part: ‖y‖₁ − ‖y − z‖₁, not below 0, scaled to sum to one."""
    size = sum(abs(number) for number in whole)
    near = [max(0.0, size - sum(abs(y - z) for y, z in zip(whole, part, strict=True))) for part in parts]
    return np.array(near) / sum(near)


def test_flow_is_the_published_measure_on_their_numbers() -> None:
    """GPT-2 and BERT: states and weights of Hugging Face's, the products by hand."""
    for name in ("gpt2", "bert"):
        ours, twin, w = pair(name)
        flow = ex.analysis.information_flow(ours, TEXT)
        with torch.no_grad():
            out = twin(torch.tensor(ours.tokens(TEXT).ids)[None], output_hidden_states=True, output_attentions=True)
        for layer, query in ((0, 3), (1, 4)):
            x = out.hidden_states[layer][0].numpy().astype(np.float64)
            alpha, dim = out.attentions[layer][0].numpy(), x.shape[1]
            if name == "gpt2":
                at = f"transformer.h.{layer}."
                v = normed(x, w[at + "ln_1.weight"], w[at + "ln_1.bias"]) @ w[at + "attn.c_attn.weight"][:, 2 * dim :]
                v, out_matrix = v + w[at + "attn.c_attn.bias"][2 * dim :], w[at + "attn.c_proj.weight"]
                bias = w[at + "attn.c_proj.bias"]
            else:
                at = f"bert.encoder.layer.{layer}.attention."
                v = x @ w[at + "self.value.weight"].T + w[at + "self.value.bias"]
                out_matrix, bias = w[at + "output.dense.weight"].T, w[at + "output.dense.bias"]
            values, matrix = v.reshape(len(x), len(alpha), -1), out_matrix.reshape(len(alpha), -1, dim)
            parts = np.einsum("hk,khw,hwd->hkd", alpha[:, query], values, matrix).reshape(-1, dim)
            shares = share_by_hand([*parts, x[query]], parts.sum(0) + x[query] + bias)
            np.testing.assert_allclose(flow.attention[layer, :, query].ravel(), shares[:-1], atol=1e-4)
            assert abs(flow.kept[layer, query] - shares[-1]) <= 1e-4


@pytest.mark.parametrize("preset", ["bert", "gpt2", "llama", "t5", "bart", "olmo2"])
def test_flow_takes_sums_apart_without_a_rest(preset: str) -> None:
    tokenizer = pair("bert" if preset == "bert" else "gpt2")[0].tokenizer
    model = ex.build(preset, tokenizer=tokenizer, device="cpu", seed=1, layers=2, heads=4, dim=32)
    target = {"target": TEXT} if model.family == "encoder-decoder" else {}
    for stream in (name for name in model.streams if name != "cross"):
        flow = ex.analysis.information_flow(model, TEXT, stream=stream, **target)
        np.testing.assert_allclose(flow.attention.sum((1, 3)) + flow.kept, 1, atol=1e-5)
        assert (flow.feed_forward >= 0).all() and (flow.feed_forward <= 1).all()
        assert (flow.crossed is not None) == (stream == "decoder" and model.family == "encoder-decoder")
        if stream == "decoder":
            assert not np.triu(flow.attention.sum((0, 1)), 1).any(), "no way leads from a later token"


def test_ways_end_where_a_share_is_below_the_threshold() -> None:
    attention = np.zeros((2, 1, 3, 3), np.float32)
    attention[0, 0] = [[0.1, 0, 0], [0.6, 0.1, 0], [0.0, 0.05, 0.15]]
    attention[1, 0] = [[0.2, 0, 0], [0.3, 0.2, 0], [0.0, 0.7, 0.1]]
    kept = 1 - attention.sum((1, 3))
    tokens = pair("gpt2")[0].tokenizer.tokens([5, 6, 7])
    flow = InformationFlow("m", tokens, "decoder", attention, kept, np.zeros((2, 3), np.float32))
    ways = {(kind, layer, query, key) for kind, layer, query, key, _ in flow.edges(2, 0.25)}
    assert ways == {("attention", 1, 2, 1), ("attention", 0, 1, 0), ("kept", 0, 1, 1)}
    assert {edge[:4] for edge in flow.edges(None, 0.25)} > ways
    assert flow.edges(2, 1.1) == ()
    assert sum(share for *_, share in flow.edges(1, 0.0) if _[1] == 1) == pytest.approx(1)


LAYERS = {  # where each class keeps value and output of the attention of a layer
    "bert": ("bert.encoder.layer.{}.attention.self.value", "bert.encoder.layer.{}.attention.output.dense", "encoder"),
    "bart": ("model.decoder.layers.{}.encoder_attn.v_proj", "model.decoder.layers.{}.encoder_attn.out_proj", "cross"),
}


def theirs(name: str, layer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α·v·W_O [head, query, key, dim] from the modules of their class, b_O, and what the output matrix put out."""
    ours, twin, _ = pair(name)
    value, output = (twin.get_submodule(path.format(layer)) for path in LAYERS[name][:2])
    states: dict[nn.Module, Tensor] = {}
    hooks = [
        part.register_forward_hook(lambda module, given, out: states.__setitem__(module, out[0].detach().double()))
        for part in (value, output)
    ]
    with torch.no_grad():
        outputs = twin(**read_by_theirs(ours, TEXT, TEXT if name == "bart" else None), output_attentions=True)
    for hook in hooks:
        hook.remove()
    alpha = (outputs.attentions if name == "bert" else outputs.cross_attentions)[layer][0].double()
    assert isinstance(output, nn.Linear) and output.bias is not None
    v = states[value].unflatten(-1, (len(alpha), -1))  # [key, head, width]
    w = output.weight.detach().double().T.unflatten(0, (len(alpha), -1))  # [head, width, dim]
    parts = torch.einsum("hqk,khw,hwd->hqkd", alpha, v, w)
    return parts.numpy(), output.bias.detach().double().numpy(), states[output].numpy()


@pytest.mark.parametrize("name", LAYERS)
def test_lengths_are_those_of_the_vectors_in_their_layers_which_sum_to_what_these_put_out(name: str) -> None:
    ours, _, _ = pair(name)
    record = ex.analysis.contributions(ours, TEXT, **({"target": TEXT} if name == "bart" else {}))
    for layer in (other for other in record.layers if other.stream == LAYERS[name][2]):
        parts, bias, out = theirs(name, layer.layer)
        np.testing.assert_allclose(parts.sum((0, 2)) + bias, out, atol=1e-4)
        for head in range(len(parts)):
            np.testing.assert_allclose(layer.of(head), np.linalg.norm(parts[head], axis=-1), atol=1e-4)
        np.testing.assert_allclose(layer.together, np.linalg.norm(parts.sum(0), axis=-1), atol=1e-4)


def test_grouped_heads_share_values_and_a_masked_token_contributes_nothing() -> None:
    for name in ("gpt2", "llama"):
        model = ex.load(name, device="cpu")
        for layer in ex.analysis.contributions(model, TEXT).layers:
            assert (layer.together[~layer.allowed] == 0).all() and (layer.together[layer.allowed] > 0).all()
            mine = np.stack([layer.of(head) for head in range(len(layer.weights))])
            assert (layer.together <= mine.sum(0) + 1e-4).all(), "the triangle inequality"


def test_the_picture_draws_what_the_record_holds() -> None:
    record = ex.analysis.contributions(ex.load("bert", device="cpu"), TEXT)
    layer, draw = record.layers[1], partial(VIEWS["contributions"], record, layer="encoder layer 1")
    lengths, shares = (draw(head=2, shows=shows) for shows in ("length", "share of the row"))
    np.testing.assert_array_equal(lengths.data[0].z, layer.weights[2])
    np.testing.assert_allclose(lengths.data[1].z, layer.of(2), atol=1e-6)
    np.testing.assert_allclose(np.asarray(shares.data[1].z).sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(draw(every=True, shows="length").data[1].z, layer.together, atol=1e-6)
    weight, share = layer.weights[2].mean(0), (layer.of(2) / layer.of(2).sum(1, keepdims=True)).mean(0)
    assert {f"{part[weight.argmax()]:.0%}" for part in (weight, share)} <= set(re.findall(r"\d+%", lengths.layout.title.text))


def test_the_question_counts_heads_whose_heaviest_token_contributes_most() -> None:
    record = ex.analysis.contributions(ex.load("bert", device="cpu"), TEXT)
    count = sum(
        int(np.argmax(weights.sum(0)) == np.argmax((weights * layer.handed[head]).sum(0)))
        for layer in record.layers
        for head, weights in enumerate(layer.weights)
    )
    assert lesson.agreeing(record) == (count, sum(len(layer.weights) for layer in record.layers))
    assert f"{count} of" in lesson.contribution_question(record).why
