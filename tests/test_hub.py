"""Any Hugging Face model: opened, traced, edited, refused with a reason, and left as it was."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from conftest import ALL, LONG, SAMPLED
from transformers.utils import logging

import explorer as ex
from explorer.models import results
from explorer.models.hub import archive, opening
from explorer.models.hub.architectures import ARCHITECTURES, tiny
from explorer.models.hub.attending import FIELD, attending, configs
from explorer.models.hub.foreign import HubModel
from explorer.models.hub.opening import quiet_transformers
from explorer.models.model import NEVER_TRAINED
from explorer.models.transformer import TransformerModel
from explorer.records import Block, Edit, Trace
from explorer.views.board.pack import pack
from studies import support

SAMPLE = """BertForPreTraining AlbertForPreTraining DebertaV2ForMaskedLM LongformerForMaskedLM OPTForCausalLM Gemma2ForCausalLM
    GptOssForCausalLM BloomForCausalLM MambaForCausalLM T5ForConditionalGeneration BartForConditionalGeneration"""
REFUSED = {"LongformerForMaskedLM": "bands", "LEDForConditionalGeneration": "bands", "MambaForCausalLM": "no attention"}
PARTS = "given out total norm_input normed mean deviation gain shift"  # of a block
SENTENCE = "The dog was tired because it ran."


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return support.words()


def pair(name: str, tokenizer: Any) -> HubModel:
    return ex.load((tiny(name, max(64, tokenizer.vocabulary.size)), tokenizer))


def target_of(model: Any, text: str = support.TARGET) -> dict[str, str]:
    return {"target": text} if model.family == "encoder-decoder" else {}


@pytest.mark.parametrize("name", ARCHITECTURES if ALL else SAMPLE.split())
def test_every_architecture_is_shown_to_the_bit_or_refused_with_a_reason(name: str) -> None:
    row = support.measure(name)
    if name in REFUSED:
        assert row.way == "refused" and REFUSED[name] in row.reason and name in row.reason
        return
    assert row.way in ("stages", "weights"), row.reason
    assert row.weights == 0.0 and row.outputs == 0.0 and row.states
    assert row.residual <= 1e-6 if row.way == "stages" else np.isnan(row.residual)
    assert ("SilenceHead" in row.edits) == (row.way == "stages")
    kept = {row.architecture: row for row in results.support_table().rows}[name]
    assert (kept.way, kept.family, kept.streams, kept.edits) == (row.way, row.family, row.streams, row.edits)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("NystromformerForMaskedLM", {"num_landmarks": 8, "segment_means_seq_len": 64}, "num_landmarks=8"),
        ("RwkvForCausalLM", {"attention_hidden_size": 32, "context_length": 32}, "no attention: it carries one state"),
    ],
)
def test_what_has_no_row_for_each_query_is_refused(name: str, settings: dict[str, Any], message: str, tokenizer: Any) -> None:
    kind = getattr(transformers, name)
    usual = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    module = kind(kind.config_class(vocab_size=max(64, tokenizer.vocabulary.size), **usual, **settings)).eval()
    with pytest.raises(ex.ExplorerError, match=f"{name}.*{message}"):
        ex.load((module, tokenizer))
    assert opening.without_attention(kind, module.config) == (name == "RwkvForCausalLM"), "refused before it is read"


def test_the_table_holds_at_least_thirty_five_that_open() -> None:
    kept = results.support_table()
    assert {row.architecture for row in kept.rows} == set(ARCHITECTURES)
    assert support.written(kept) in (Path(__file__).parent.parent / "docs" / "support.md").read_text("utf-8")
    assert sum(row.way != "refused" for row in kept.rows) >= 35
    assert sum(row.way == "stages" for row in kept.rows) >= 30
    assert all(row.weights == 0.0 and row.outputs == 0.0 for row in kept.rows if row.way != "refused")


def edits_of(model: Any, trace: Any) -> list[Edit]:
    stream = next(iter(model.streams))
    count = len(trace.axes(stream)[0])
    order = np.arange(count)
    order[[1, 2]] = order[[2, 1]]
    row = np.full(count, 1 / count)
    return [
        ex.SilenceHead(stream, 0, 1), ex.NoScale(stream), ex.Uniform(stream, 1, 0), ex.SilenceLayer(stream, 0, "attention"),
        ex.SilenceLayer(stream, 1, "feed-forward"), ex.SilenceLayer(stream), ex.MovePositions(stream, order),
        ex.NoPositions(stream), ex.PatchHidden(stream, 0, 2, trace), ex.SetMask(stream, np.tril(np.ones((count, count), bool))),
        ex.ReplaceRow(stream, 0, 0, count - 1, row),
    ]  # fmt: skip


def twice(name: str, folder: Path) -> tuple[TransformerModel, HubModel, dict[str, str]]:
    """The same weights twice, once in our code and once in theirs, and the target that both take."""
    ours = ex.load(name, device="cpu")
    return ours, ex.load(ex.export(ours, folder / name), native=False, device="cpu"), target_of(ours, "The dog slept.")


@LONG
@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_edits_do_to_theirs_what_they_do_to_ours(name: str, tmp_path: Path) -> None:
    ours, theirs, target = twice(name, tmp_path)
    plain = ex.trace(ours, SENTENCE, **target)
    assert theirs.notes == () and theirs.streams == ours.streams
    for edit in [None, *edits_of(ours, plain)]:
        mine, its = (ex.trace(model, SENTENCE, edits=edit, **target) for model in (ours, theirs))
        assert mine.source.texts == its.source.texts
        assert np.abs(mine.outputs["lm"] - its.outputs["lm"]).max() <= 5e-5, edit
        assert its.residual <= 1e-5
        for a, b in zip(mine.attention, its.attention, strict=True):
            assert np.abs(a.weights - b.weights).max() <= 1e-5
            assert a.output is not None and b.output is not None and np.abs(a.output - b.output).max() <= 5e-5
        assert {k: len(v) for k, v in mine.hidden.items()} == {k: len(v) for k, v in its.hidden.items()}


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "BartForConditionalGeneration", "BloomForCausalLM"])
def test_an_empty_edit_changes_nothing_to_the_bit(name: str, tokenizer: Any) -> None:
    model = pair(name, tokenizer)
    nothing = [Edit(stream) for stream in model.streams]
    if model.adopted.way == "weights":
        with pytest.raises(ex.ExplorerError, match="lets nobody change"):
            ex.trace(model, support.TEXT, edits=nothing)
        return
    plain, edited = (ex.trace(model, support.TEXT, edits=edits, **target_of(model)) for edits in ((), nothing))
    assert np.array_equal(plain.outputs["lm"], edited.outputs["lm"])
    assert all(np.array_equal(a.weights, b.weights) for a, b in zip(plain.attention, edited.attention, strict=True))


BLOCKS = ("BertForPreTraining", "GPT2LMHeadModel", "LlamaForCausalLM", "GemmaForCausalLM", "Olmo2ForCausalLM", "AlbertForPreTraining",
          "OPTForCausalLM", "T5ForConditionalGeneration", "BartForConditionalGeneration", "ModernBertForMaskedLM", "GPTNeoXForCausalLM",
          "Gemma2ForCausalLM", "Gemma3ForCausalLM", "PhiForCausalLM", "Phi3ForCausalLM", "CohereForCausalLM", "GPTJForCausalLM",
          "FalconForCausalLM", "GptOssForCausalLM")  # fmt: skip
PLACES = {"Gemma2ForCausalLM": ["both", "both"], "PhiForCausalLM": ["pre", "beside"], "GPTNeoXForCausalLM": ["pre", "beside"],
          "ModernBertForMaskedLM": ["bare", "pre"], "Phi3ForCausalLM": ["pre", "pre"]}  # fmt: skip
FUSED = ("ModernBertForMaskedLM", "GPTNeoXForCausalLM", "Phi3ForCausalLM")  # whose q, k and v come from one matrix


@SAMPLED
@pytest.mark.parametrize("name", ARCHITECTURES if ALL else BLOCKS)
def test_what_blocks_add_sums_to_the_next_states_to_the_bit(name: str, tokenizer: Any) -> None:
    if name in REFUSED:
        return
    model = pair(name, tokenizer)
    if model.without_blocks:
        assert name not in BLOCKS
        return
    trace = ex.trace(model, support.TEXT, blocks=True, **target_of(model))
    for stream, states in trace.hidden.items():
        for layer, entering in enumerate(states[:-1]):
            x = entering
            for block in (b for b in trace.blocks if (b.stream, b.layer) == (stream, layer)):
                assert np.array_equal(block.given, x) and np.array_equal(block.given + block.out, block.total)
                for norm, read in ((block, block.norm_input), (block.entry, block.given)):
                    if norm is not None:
                        formula = (read - norm.mean[:, None]) / norm.deviation[:, None] * norm.gain + norm.shift
                        assert np.abs(formula - norm.normed).max() <= 1e-4 * np.abs(norm.normed).max()
                assert (block.place == "beside") == (block.place != "post" and not np.array_equal(*read_and_given(block)))
                x = block.normed if block.place == "post" else block.total
            near = 1e-6 if block.place == "beside" else 0  # a sum of three, which models add in other orders
            assert np.abs(x - states[layer + 1]).max() <= near * max(1, np.abs(x).max())
    assert ex.trace(model, support.TEXT, **target_of(model)).blocks == ()


def read_and_given(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """What a sub-layer or its norm reads, and what its output is added to."""
    return (block.norm_input, block.given) if block.place in ("pre", "beside", "bare") else (block.given, block.given)


@pytest.mark.parametrize(("name", "places"), PLACES.items())
def test_norms_are_found_where_they_are_and_one_matrix_for_all_three_is_taken_apart(
    name: str, places: list[str], tokenizer: Any
) -> None:
    """q and k before RoPE: a rotation keeps their length, position 0 is not turned at all, and W_K makes them of what was normalised."""
    trace = ex.trace(pair(name, tokenizer), support.TEXT, blocks=True)
    assert [block.place for block in trace.blocks[:2]] == places
    assert all((block.entry is not None) == (block.place == "both") for block in trace.blocks)
    layer = trace.attention[1]
    for before, after in ((layer.projected_q, layer.q), (layer.projected_k, layer.k)) if name in FUSED else ():
        np.testing.assert_allclose(np.linalg.norm(before, axis=-1), np.linalg.norm(after, axis=-1), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(before[:, 0], after[:, 0], atol=1e-6)
        assert np.abs(before[:, 1:] - after[:, 1:]).max() > 1e-3


def test_blocks_that_cannot_be_told_apart_are_refused_with_the_reason(tokenizer: Any) -> None:
    model = pair("XLNetLMHeadModel", tokenizer)
    with pytest.raises(ex.ExplorerError, match="no norm was found"):
        ex.trace(model, support.TEXT, blocks=True)
    assert ex.trace(model, support.TEXT).attention


@LONG
@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
def test_the_walk_through_theirs_shows_the_numbers_of_ours(name: str, tmp_path: Path) -> None:
    ours, theirs, target = twice(name, tmp_path)
    edit = ex.SilenceLayer("encoder" if "encoder" in ours.streams else "decoder", 0, "attention")
    for edits in ((), edit):
        mine, its = (ex.trace(model, SENTENCE, blocks=True, edits=edits, **target) for model in (ours, theirs))
        assert len(mine.blocks) == len(its.blocks) > 0
        for a, b in zip(mine.blocks, its.blocks, strict=True):
            assert (a.stream, a.layer, a.part, a.place) == (b.stream, b.layer, b.part, b.place)
            for part in PARTS.split():
                x, y = getattr(a, part), getattr(b, part)
                np.testing.assert_allclose(x, y, atol=1e-4, rtol=1e-5, err_msg=f"{a.part}, {part}")
    for a, b in zip(mine.attention, its.attention, strict=True):
        assert (a.projected_q is None) == (b.projected_q is None)
        assert a.projected_q is None or np.abs(a.projected_q - b.projected_q).max() <= 1e-4
    assert stations(mine) == stations(its)


def stations(trace: Trace) -> set[str]:
    """What a board shows, in all."""
    data = pack(trace)
    sites = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["sites"]
    return {name for site in sites for name in site["stations"]}


def state_of(module: Any) -> tuple[Any, ...]:
    hooks = [(len(part._forward_hooks), len(part._forward_pre_hooks), part.training) for part in module.modules()]
    return hooks, [config._attn_implementation for config in configs(module)]


@pytest.mark.parametrize("name", ["BertForPreTraining", "T5ForConditionalGeneration", "BloomForCausalLM"])
def test_a_live_model_comes_back_unchanged(name: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tiny(name, max(64, tokenizer.vocabulary.size))
    ids = torch.arange(8, 14)[None]
    given = {"input_ids": ids} | ({"decoder_input_ids": ids} if module.config.is_encoder_decoder else {})
    with torch.no_grad():
        before, answer = state_of(module), module(**given)[0]
        model = ex.load((module, tokenizer))
        assert state_of(module) == before
        ex.trace(model, support.TEXT, **target_of(model))
        assert state_of(module) == before and torch.equal(module(**given)[0], answer)

        def broken(*args: Any, **given: Any) -> None:
            raise RuntimeError("in the middle")

        part = next(part for path, part in module.named_modules() if type(part).__name__ == "Linear" and "0" in path)
        with monkeypatch.context() as patch:
            patch.setattr(part, "forward", broken)
            with pytest.raises(RuntimeError, match="in the middle"):
                ex.trace(model, support.TEXT)
        assert state_of(module) == before and torch.equal(module(**given)[0], answer)


def test_what_a_reader_must_know_is_noted(tokenizer: Any) -> None:
    model = pair("BertForPreTraining", tokenizer)
    assert model.notes == (NEVER_TRAINED,) and ex.trace(model, support.TEXT).notes == (NEVER_TRAINED,)
    model.module.train()
    assert any("dropout is on" in note for note in model.notes) and model.module.training
    assert any("only its weights" in note for note in pair("BloomForCausalLM", tokenizer).notes)


@pytest.mark.parametrize("live", [True, False])
def test_eight_threads_on_one_model_do_not_hear_each_other(live: bool, bert: TransformerModel, tmp_path: Path) -> None:
    model = ex.load(ex.export(bert, tmp_path / "bert"), native=False, device="cpu")
    if live:
        model = ex.load((model.module, model.tokenizer))
    texts = [f"The dog saw {'the cat and ' * n}the house." for n in range(8)]
    alone = [ex.trace(model, text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: ex.trace(model, text), texts))
    for a, b in zip(alone, together, strict=True):
        assert a.source.texts == b.source.texts and len(a.attention) == len(b.attention)
        assert all(np.array_equal(x.weights, y.weights) for x, y in zip(a.attention, b.attention, strict=True))
        assert np.array_equal(a.outputs["lm"], b.outputs["lm"])


def test_batches_pairs_and_padding(bert: TransformerModel, tmp_path: Path) -> None:
    model = ex.load(ex.export(bert, tmp_path / "bert"), native=False, device="cpu")
    texts = [SENTENCE, ("The dog was tired.", "It slept.")]
    for text, many in zip(texts, model.outputs_many(texts), strict=True):
        for name, scores in bert.outputs(text).items():
            assert np.abs(many[name] - scores).max() <= 1e-4 and np.abs(model.outputs(text)[name] - scores).max() <= 1e-4


DAMAGE: dict[str, dict[str, Any]] = {  # files that go, and others that come or change
    "no model in|no config.json": {"config.json": None},
    "no weights": {"model.safetensors": None},
    "pickled": {"model.safetensors": None, "pytorch_model.bin": b"pickle"},
    "no tokenizer": {"tokenizer.json": None, "tokenizer_config.json": None},
    "broken or cut short": {"model.safetensors": b"\x08\x00\x00\x00\x00\x00\x00\x00{}  not it"},
    "cannot be read as JSON": {"config.json": b"{"},
    "not text": {"config.json": {"model_type": "vit", "architectures": ["ViTForImageClassification"]}},
    "never runs code|does not have": {"config.json": {"model_type": "mine", "auto_map": {"AutoConfig": "code.Mine"}}},
    "does not have": {"config.json": {"model_type": "from the future"}},
    "could not be read|vectors for|describes": {"config.json": {"vocab_size": 50}},
}


@SAMPLED
@pytest.mark.parametrize("message", DAMAGE)
def test_a_folder_or_zip_that_cannot_be_opened_says_why(message: str, bert: TransformerModel, tmp_path: Path) -> None:
    folder = ex.export(bert, tmp_path / "bert")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    for name, content in DAMAGE[message].items():
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(json.dumps(config | content).encode() if isinstance(content, dict) else content)
    with pytest.raises(ex.ExplorerError, match=message):
        ex.load(folder, native=False, device="cpu")
    with pytest.raises(ex.ExplorerError, match=message) as error:
        ex.load(archive.unpack(io.BytesIO(archive.pack(folder)), tmp_path / "model", "mine.zip"), native=False, device="cpu")
    assert "vectors" in message or str(tmp_path) not in str(error.value), "an upload that unpacks has a folder"


def test_what_cannot_be_loaded_is_refused(bert: TransformerModel) -> None:
    for source, message in (
        ("hub:gpt2", "could not be fetched"),
        ((1, 2), "live pair"),
        ((torch.nn.Linear(2, 2), None), "transformers"),
        ((tiny("BertForPreTraining", 64), bert.tokenizer), "vectors for 64"),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.load(source)


def test_a_gigantic_model_is_refused_with_the_number() -> None:
    config = transformers.LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=4, num_attention_heads=64)
    weights = 4 * (4 * 8192**2 + 3 * 8192 * 28672 + 2 * 8192) + 2 * 32000 * 8192 + 8192  # the paper's formula
    message = f"{weights / 1e9:.1f} billion weights: {weights * 4 / 1e9:.1f} GB in float32.* 8.0 GB of memory is free, of which a tenth"
    with pytest.raises(ex.ExplorerError, match=message):
        opening.check_memory(transformers.LlamaForCausalLM, config, "llama", free=8 * 10**9)
    opening.check_memory(transformers.LlamaForCausalLM, config, "llama", free=64 * 10**9)
    half = (torch.float32, torch.bfloat16)
    with pytest.raises(ex.ExplorerError, match=f"Open it with precision='stored', which takes {weights * 2 / 1e9:.1f} GB"):
        opening.check_memory(transformers.LlamaForCausalLM, config, "llama", half, free=8 * 10**9)
    with pytest.raises(
        ex.ExplorerError, match=r"what it computes\. Take a smaller model"
    ):  # stored in float32, it would take as much
        opening.check_memory(transformers.LlamaForCausalLM, config, "llama", free=8 * 10**9)
    opening.check_memory(transformers.LlamaForCausalLM, config, "llama", (torch.bfloat16,) * 2, free=12 * 10**9)
    with pytest.raises(ex.ExplorerError, match=f"{weights * 2 / 1e9:.1f} GB in bfloat16, as it is stored"):
        opening.check_memory(transformers.LlamaForCausalLM, config, "llama", (torch.bfloat16,) * 2, free=8 * 10**9)


@SAMPLED
@pytest.mark.parametrize("number_type", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("kind", ["Qwen3ForCausalLM", "LlamaForCausalLM"])
def test_a_checkpoint_opens_as_it_is_stored(
    kind: str, number_type: torch.dtype, gpt2: TransformerModel, tmp_path: Path
) -> None:
    """In half the memory, through transformers (Qwen3) and as ours (Llama), with the numbers of its class in that precision."""
    ex.export(gpt2, tmp_path)
    module = tiny(kind, gpt2.tokenizer.vocabulary.size).to(number_type)
    module.save_pretrained(tmp_path)
    model, whole = ex.load(tmp_path, device="cpu", precision="stored"), ex.load(tmp_path, device="cpu")
    assert isinstance(model, TransformerModel) == kind.startswith("Llama")
    assert {part.dtype for part in model.module.parameters()} == {number_type}
    assert {part.dtype for part in whole.module.parameters()} == {torch.float32}
    text = "The dog did not cross the river."
    with torch.no_grad():
        theirs = module(input_ids=torch.tensor([model.tokens(text).ids.tolist()])).logits[0].float().numpy()
    size = np.abs(theirs).max()
    assert (
        np.abs(ex.trace(model, text, scores=True).outputs["lm"] - theirs).max() / size < torch.finfo(number_type).eps * 8 + 1e-6
    )
    assert ex.lens(model, text, inside=True).gap < 1e-3 and len(ex.trace(model, text, blocks=True).blocks) > 0


def test_each_layer_has_its_own_mask_where_some_see_a_window_alone(tokenizer: Any) -> None:
    config = transformers.Gemma2Config(
        vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1,
        head_dim=16, sliding_window=3, pad_token_id=0,
    )  # fmt: skip
    record = ex.trace(ex.load((transformers.Gemma2ForCausalLM(config).eval(), tokenizer)), support.TEXT)
    causal = np.tril(np.ones((len(record.source),) * 2, bool))
    masks = {"full_attention": causal, "sliding_attention": causal & ~np.tril(causal, -config.sliding_window)}
    assert [np.array_equal(a.allowed, masks[kind]) for a, kind in zip(record.attention, config.layer_types, strict=True)] == [
        True
    ] * 3
    assert len(set(config.layer_types)) == 2


def test_a_long_text_costs_what_is_said(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.analysis import trace

    model = pair("GPT2LMHeadModel", tokenizer)
    whole = ex.trace(model, support.TEXT)
    size: Callable[[Any], int] = lambda a: sum(x.nbytes for x in (a.weights, a.q, a.k, a.v, a.output))  # noqa: E731
    assert trace.cost(model, len(whole.source)) == sum(map(size, whole.attention))
    monkeypatch.setattr(trace, "MEMORY", 100)
    with pytest.raises(ex.ExplorerError, match="Name the layers"):
        ex.trace(model, support.TEXT)
    assert not ex.trace(model, support.TEXT, layers=[]).attention


def test_the_private_field_of_transformers_still_chooses_how_a_model_attends(tokenizer: Any) -> None:
    module = tiny("BertForPreTraining", 64)
    message = f"transformers {transformers.__version__} chooses attention in another way than by {FIELD}: mend attending.py"
    assert hasattr(module.config, FIELD), message
    before = module.config._attn_implementation
    for name in ("eager", "sdpa"):
        with attending(module, name):
            assert module.config._attn_implementation == name, message
    assert module.config._attn_implementation == before, message


def test_transformers_is_quiet_while_a_model_is_opened_and_as_before_afterwards() -> None:
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with quiet_transformers():
        assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == (logging.ERROR, False)
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_a_network_that_cannot_be_reached_is_told_from_a_name_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert "network cannot be reached" in str(opening._not_had("a/b", "could not connect to the host", OSError("x")))
    assert "404" in str(opening._not_had("a/b", "404 client error", OSError("404 client error")))
    assert "network" not in str(opening._not_had("a/b", "404 client error", OSError("404 client error")))
