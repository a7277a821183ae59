"""Three families: masks, parameters, sums and costs against formulas, against PyTorch and against models run by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
import transformers
from conftest import ALL, LONG, SAMPLED
from opening import opened
from test_board import board_of, header
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

import explorer as ex
from explorer import microworld
from explorer.analysis import costs
from explorer.analysis.elmo import elmo_visibility
from explorer.analysis.exposure import exposure_bias
from explorer.analysis.masks import PIECES, held_losses, masks, under_masks
from explorer.analysis.parameters import blueprint, total
from explorer.analysis.without_activation import linear
from explorer.app.controls import attentive
from explorer.app.lessons.families import parts as page_parts
from explorer.app.lessons.families import published, published_questions
from explorer.app.lessons.families import questions as lesson
from explorer.app.tour_steps import STEPS
from explorer.errors import ExplorerError
from explorer.models import results
from explorer.models.elmo import ElmoModel
from explorer.models.factory import configure
from explorer.models.presets import PRESETS
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import FAMILIES
from explorer.nn.layers import FeedForward
from explorer.nn.transformer import Transformer
from explorer.records import Curves, Written, spread
from explorer.records.families import CAUSAL, FULL, MASKS, OWN, PREFIX
from explorer.text import classroom
from explorer.views import VIEWS, stream
from explorer.views.blueprint import layout
from explorer.views.board.pack import pack
from studies import unmasked

TRANSFORMERS = {name for name, system in PRESETS.items() if system.architecture.get("family") in FAMILIES}

TEXT = "The animal didn't cross the street because it was too tired."
STORIES = [" ".join(story) for story in microworld.stories(12, 1, "validation")]


def test_a_prefix_mask_is_full_in_the_prefix_and_causal_behind_it() -> None:
    allowed = masks(7, 3)
    for query, key in np.ndindex(7, 7):
        causal = key <= query
        wanted = {FULL: True, CAUSAL: causal, PREFIX: causal or (query < 3 and key < 3)}
        assert {name: allowed[name][query, key] for name in wanted} == wanted


def test_the_losses_of_a_decoder_are_pytorch_s(gpt2: TransformerModel) -> None:
    record = under_masks(gpt2, TEXT)
    ids = [0, *gpt2.tokenizer.encode(TEXT, special=False).ids.tolist()]
    assert record.wanted.ids.tolist() == ids[1:] and gpt2.tokenizer.vocabulary.begin == 0
    wanted = losses_of(gpt2, ids)
    for name in (OWN, CAUSAL):
        np.testing.assert_allclose(record.losses[MASKS.index(name)], wanted, atol=1e-4)
    later = slice(record.prefix, None)
    assert not np.allclose(record.losses[MASKS.index(PREFIX)][later], wanted[later]), "they read a changed prefix"
    for name, allowed in masks(len(ids), record.prefix).items():
        assert np.array_equal(record.traces[name].attention[0].allowed, allowed)


@LONG
def test_the_losses_of_an_encoder_are_those_of_one_hidden_piece_each(bert: TransformerModel) -> None:
    record, tokens = under_masks(bert, TEXT), bert.tokens(TEXT)
    for n, place in ((0, 1), (4, 5)):
        ids = tokens.ids.copy()
        ids[place] = bert.tokenizer.vocabulary.mask
        scores = torch.tensor(bert.logits(ids.tolist())[place])
        wanted = float(functional.cross_entropy(scores, torch.tensor(int(tokens.ids[place]))))
        for name in (OWN, FULL):
            assert record.losses[MASKS.index(name)][n] == pytest.approx(wanted, abs=1e-4)
    edited = ex.trace(bert, tokens, edits=[ex.SetMask("encoder", np.tril(np.ones((len(tokens),) * 2, bool)))])
    assert np.array_equal(edited.attention[0].allowed, record.traces[CAUSAL].attention[0].allowed)
    assert not np.triu(edited.attention[-1].weights[0], 1).any(), "under a causal mask it sees nothing ahead"


def test_trained_weights_are_lost_under_the_other_mask(shipped: TransformerModel) -> None:
    record = held_losses(shipped, STORIES, count=6)
    before, after = (record.means()[MASKS.index(name)] for name in (OWN, lesson.other(shipped.family)))
    assert (after > before).all() and record.losses.shape[-1] == PIECES + (shipped.family == "encoder")
    question = lesson.mask_question(record)
    assert question.answer == "it rises" and f"{after.mean():.2f}" in question.why
    same = CAUSAL if shipped.family == "decoder" else FULL
    np.testing.assert_allclose(record.losses[0], record.losses[MASKS.index(same)], atol=1e-4)


def losses_of(model: TransformerModel, ids: list[int]) -> np.ndarray:
    """The loss of each token after the first, by PyTorch's cross-entropy."""
    rows, labels = torch.tensor([ids[:-1]]), torch.tensor(ids[1:])
    with torch.no_grad():
        scores = model.module.outputs(model.module(rows))["lm"][0]
        return functional.cross_entropy(scores, labels, reduction="none").numpy()


def test_the_held_out_loss_is_pytorch_s(gpt2: TransformerModel) -> None:
    record = held_losses(gpt2, STORIES, count=1)
    ids = next(ids for text in STORIES if len(ids := [0, *gpt2.tokenizer.encode(text, special=False).ids.tolist()]) > PIECES)
    assert record.means()[0, 0] == pytest.approx(losses_of(gpt2, ids[: PIECES + 1]).mean(), abs=1e-4)


@pytest.mark.parametrize(("before", "after", "outcome"), [(2.0, 0.1, 0), (2.0, 1.5, 1), (2.0, 2.05, 2), (2.0, 3.0, 3)])
def test_what_a_loss_did(before: float, after: float, outcome: int) -> None:
    assert lesson.fate(before, after) == lesson.OPTIONS[outcome]


def test_questions_about_the_recorded_training_follow_its_lines() -> None:
    names = {
        "trained with the mask, read with the mask": 2.0, "trained without it, read without it": 0.01,
        "trained without it, read with the mask": 4.0, "trained without it, random tokens, read without it": 0.5,
    }  # fmt: skip
    curves = Curves("", "", "", tuple(spread(name, np.arange(2.0), np.full((2, 2), end)) for name, end in names.items()))
    assert all(number in lesson.copy_question(curves, 2000).why for number in ("0.50", "7.60"))
    for measured in (curves, results.result("unmasked")):
        assert lesson.copy_question(measured, 2000).answer == "almost nothing"
        assert lesson.writing_question(measured).answer == "it writes worse"
    assert {results.recorded("unmasked", Written, part).size for part in ("with", "without")} == {2000}


@pytest.fixture(scope="module")
def bart() -> TransformerModel:
    return ex.load("bart", device="cpu")


@SAMPLED
@pytest.mark.parametrize("name", [name for name, stored in ex.models().items() if stored.about()["preset"] in TRANSFORMERS])
def test_every_parameter_is_counted_once_and_the_formula_agrees(name: str) -> None:
    model = ex.load(name, device="cpu")
    record = blueprint(model, "Dog")
    assert [part.title for part in record.parts if part.counted != part.expected] == []
    counted = sum(weight.numel() for weight in model.module.parameters())
    assert sum(part.counted for part in record.parts) == record.total == total(model.config) == counted
    for part in record.parts:
        if part.weights and part.kind != "head":
            assert part.times * sum(int(np.prod(shape)) for _, shape in part.weights) == part.counted


@pytest.mark.parametrize("name", ["bert", "gpt2", "olmo2"])
def test_a_norm_is_named_and_drawn_where_it_is_computed(name: str) -> None:
    """Its name says before or after as the model runs it, and in a pre-norm model its box is below its block."""
    model = ex.load(name, device="cpu")
    layer, order = model.module.layers[0], []
    parts = {"norm": layer.after_attention.norm, "attention": layer.attention}
    hooks = [part.register_forward_hook(lambda *_, word=word: order.append(word)) for word, part in parts.items()]
    ex.trace(model, TEXT)
    for hook in hooks:
        hook.remove()
    record = blueprint(model, TEXT)
    named = "norm before attention" if order.index("norm") < order.index("attention") else "norm after attention"
    assert [part.name for part in record.parts if part.name.startswith("norm") and part.name.endswith(" attention")] == [named]
    rows = {title.partition(": ")[2]: row for title, (_, row) in layout(record).items()}
    assert (rows[named] < rows["attention"]) == named.startswith("norm before")


@LONG
@pytest.mark.parametrize(
    ("system", "vocabulary", "published"),
    [("bert", 30_522, 110_106_428), ("gpt", 40_478, 116_534_784), ("gpt2", 50_257, 124_439_808), ("roberta", 50_265, None)],
)
def test_the_formula_gives_the_published_sizes(system: str, vocabulary: int, published: int | None) -> None:
    config = configure(system, "base", vocabulary)
    if published is not None:
        assert total(config) == published
    with torch.device("meta"):
        assert total(config) == sum(weight.numel() for weight in Transformer(config).parameters())


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart", "llama", "t5"])
def test_the_counted_multiply_adds_are_pytorch_s(name: str) -> None:
    model, rows = ex.load(name, device="cpu"), 13
    config, ids = model.config, torch.arange(1, rows + 1)[None]
    wanted = config.layers * costs.layer(config, rows) + costs.vocabulary(config, rows)
    with torch.no_grad(), tap.listening(lambda *heard: None), FlopCounterMode(display=False) as counter:
        if model.family == "encoder-decoder":
            model.module.head(model.module.decode(model.module.encode(ids[:, :7]), ids))
            across = costs.projections(config, rows, 7) + costs.pairs(config, rows, 7)
            wanted += costs.encoding(config, 7) + config.layers * across
        else:
            model.module.head(model.module(ids))
    assert counter.get_total_flops() == 2 * wanted, "a multiply-add is two operations"


def test_a_step_with_a_cache_costs_what_pytorch_counts(gpt2: TransformerModel) -> None:
    cache = KeyValueCache()
    with torch.no_grad(), tap.listening(lambda *heard: None):
        gpt2.module(torch.arange(1, 10)[None], cache=cache)
        with FlopCounterMode(display=False) as counter:
            gpt2.module.head(gpt2.module(torch.tensor([[10]]), cache=cache))
    assert counter.get_total_flops() == 2 * costs.step(gpt2.config, 10)
    whole = costs.saving(gpt2.config, "gpt2")
    recomputed, kept = (line.y for line in whole.lines)
    assert kept[0] == pytest.approx(recomputed[0]) and (recomputed[1:] > kept[1:]).all()


def test_a_decoder_beside_an_encoder_brings_one_query_to_the_source(bart: TransformerModel) -> None:
    cache, config = KeyValueCache(), bart.config
    with torch.no_grad(), tap.listening(lambda *heard: None):
        memory = bart.module.encode(torch.arange(1, 8)[None])
        bart.module.decode(memory, torch.tensor([[1, 2]]), cache=cache)
        with FlopCounterMode(display=False) as counter:
            bart.module.head(bart.module.decode(memory, torch.tensor([[3]]), cache=cache))
    assert counter.get_total_flops() == 2 * costs.deciding(config, 3, 7)


def test_pairs_cost_half_at_six_times_the_width() -> None:
    config = configure("bert", "base", 30_522)
    assert costs.half(config) == 6 * config.dim == 4608
    assert costs.pairs(config, 512, 512) / costs.layer(config, 512) == pytest.approx(0.1)
    np.testing.assert_allclose(np.sum([line.y for line in costs.by_length(config, "BERT base").lines], axis=0), 1)


def test_one_wrong_piece_changes_nothing_before_it_and_the_chances_are_the_model_s(gpt2: TransformerModel) -> None:
    record = exposure_bias(gpt2, STORIES, count=2, steps=3)
    ids = gpt2.tokenizer.encode(STORIES[0], special=False).ids[:12].tolist()

    def chances(read: list[int]) -> torch.Tensor:
        return torch.tensor(gpt2.logits([0, *read])).softmax(-1)

    right = chances(ids)
    np.testing.assert_allclose(record.taught[0], [right[n, ids[n]] for n in range(9, 12)], atol=1e-5)
    slip = next(piece for piece in right[8].argsort(descending=True).tolist() if piece != ids[8])
    assert record.slips[0] == gpt2.tokenizer.text_of(slip)
    changed = chances([*ids[:8], slip, *ids[9:]])
    np.testing.assert_allclose(record.wrong[0], [changed[n, ids[n]] for n in range(9, 12)], atol=1e-5)
    assert record.free[0, 0] == pytest.approx(record.wrong[0, 0], abs=1e-6), "right after the slip both have read the same"
    *_, last = ex.decode(gpt2, [0, *ids[:8]], force={0: slip}, max_tokens=4)
    assert record.own[0] == gpt2.tokenizer.decode([int(piece) for piece in last.ids])
    for line, values in zip(record.curves.lines, (record.taught, record.wrong, record.free), strict=True):
        np.testing.assert_allclose(line.y, values.mean(0))
        assert (line.low <= line.y).all() and (line.y <= line.high).all()  # type: ignore[operator]


def test_an_encoder_decoder_is_forced_on_its_target(bart: TransformerModel) -> None:
    record = exposure_bias(bart, STORIES, sources=STORIES, count=1, at=3, steps=2)
    ids = bart.tokenizer.encode(STORIES[0], special=False).ids[:6].tolist()
    logp = torch.tensor(bart.logits(STORIES[0], ids)).log_softmax(-1)
    np.testing.assert_allclose(record.taught[0], [float(logp[n, ids[n]].exp()) for n in (4, 5)], atol=1e-5)


def test_the_halves_of_an_elmo_see_one_side_each() -> None:
    stories = classroom.toys()[:30]
    elmo = ex.build("elmo", tokenizer=ex.tokenizer("characters", stories, size=900), device="cpu", dim=8, hidden=12)
    assert isinstance(elmo, ElmoModel)
    onward, back = elmo_visibility(elmo, "The dog was tired.")
    for side, triangle in ((onward, np.tril), (back, np.triu)):
        np.testing.assert_array_equal(side.moved > 0, triangle(np.ones(side.moved.shape, bool)))
    states, other = (ex.trace(elmo, f"The dog was {word}.").hidden["forward"][-1] for word in ("tired", "afraid"))
    same = [np.array_equal(*rows) for rows in zip(states, other, strict=True)]
    assert same == (onward.moved[:, onward.rows.texts.index("tired")] == 0).tolist()


def test_the_norm_by_hand_is_pytorch_s(gpt2: TransformerModel, bart: TransformerModel) -> None:
    for model, target in ((gpt2, {}), (bart, {"target": TEXT})):
        trace = ex.trace(model, TEXT, blocks=True, **target)
        read = trace.block("decoder", 1, "feed-forward").norm_input[2]
        drawn = np.asarray(VIEWS["norm-by-hand"](trace, block="decoder 1: feed-forward", place=2).data[0].z)
        with torch.no_grad():
            wanted = model.module.layers[1].after_feed_forward.norm(torch.tensor(np.array(read))).numpy()
        np.testing.assert_allclose(drawn[2], wanted, atol=1e-5)
        np.testing.assert_allclose(drawn[3], wanted, atol=1e-6)
        assert abs(drawn[1].mean()) < 1e-5 and drawn[1].std() == pytest.approx(1, abs=1e-3)


def test_the_stream_is_drawn_from_its_blocks(gpt2: TransformerModel) -> None:
    trace = ex.trace(gpt2, TEXT, blocks=True)
    assert len(VIEWS["residual-stream"](trace, word=stream.words(trace)[3]).data[0].y) == 2 * gpt2.config.layers
    mean = VIEWS["residual-stream"](trace).data
    for drawn, place in ((mean[0].y, 0), (mean[2].y, -1)):
        norms = np.linalg.norm(trace.hidden["decoder"][place], axis=-1)
        np.testing.assert_allclose(drawn[place], norms.mean(), rtol=1e-5)


def test_the_input_is_the_sum_of_its_rows(bert: TransformerModel) -> None:
    drawn, parts = np.asarray(VIEWS["input-sum"](ex.trace(bert, TEXT), word=2).data[0].z), bert.module.embeddings
    rows = parts.tokens.weight[int(bert.tokens(TEXT).ids[2])], parts.position.table.weight[2], parts.segments.weight[0]
    np.testing.assert_allclose(drawn[:3], torch.stack(rows).detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(drawn[:3].sum(0), drawn[3], atol=1e-5)


def test_exercises_are_answered_from_the_records(gpt2: TransformerModel) -> None:
    record, trace = under_masks(gpt2, TEXT), ex.trace(gpt2, TEXT, blocks=True)
    items = lesson.exercises(record, blueprint(gpt2, TEXT), trace, costs.half(gpt2.config))
    cells, perplexity, attention, normed, length = (float(item.answer) for item in items)
    rows = len(record.wanted) + 1
    assert cells == rows * (rows + 1) / 2
    assert perplexity == pytest.approx(np.exp(record.losses[0]).prod() ** (1 / (rows - 1)))
    assert attention == sum(weight.numel() for weight in gpt2.module.layers[0].attention.parameters())
    assert normed == pytest.approx(float(trace.blocks[-1].normed[0, 0])) and length == 6 * gpt2.config.dim
    assert len(items) + len(published_questions.exercises()) == 6, "of the page"


@LONG
@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "t5"])
def test_a_doubled_width_makes_feed_forward_layers_about_four_times_as_large(name: str) -> None:
    """The parameters of the same model with twice the width, counted in PyTorch; embeddings only double."""
    model = ex.load(name, device="cpu")
    wide = Transformer(dataclasses.replace(model.config, dim=2 * model.config.dim, hidden=2 * model.config.hidden))
    nets = [net.named_parameters() for net in (model.module, wide)]
    before, after = (sum(weight.numel() for part, weight in net if ".feed_forward." in part) for net in nets)
    question = lesson.doubling_question(blueprint(model, TEXT, **({"target": TEXT} if name == "t5" else {})))
    assert question.answer == "four times as many" and after / before == pytest.approx(4, rel=0.02)
    assert f"{before:,}" in question.question


def test_training_without_the_mask_is_the_same_training_but_for_the_mask(
    gpt2: TransformerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unmasked.runs, "preset_tokenizer", lambda _: gpt2.tokenizer)  # the study learns one from all stories
    size = unmasked.SIZE.but(steps=2, batch=2, checks=2, stories=20, held_out=2, length=16, dim=16, seeds=(0,))
    batches = [unmasked.begun(masked, 0, size).batch(1) for masked in (True, False)]
    assert np.array_equal(batches[0].source, batches[1].source) and np.array_equal(batches[0].labels, batches[1].labels)
    curves, *texts = unmasked.STUDIES["unmasked"].measured(size).values()
    assert [line.label for line in curves.lines] == [f"{way}, {what}" for way, what in unmasked.LINES]
    assert [type(text) for text in texts] == [Written, Written]
    allowed = torch.ones(4, 4, dtype=torch.bool).tril() & torch.tensor([True, True, True, False])
    lifted = unmasked.Lifted("decoder").changed(allowed[None, None])
    assert lifted[0, 0].tolist() == [[True, True, True, False]] * 4, "padding stays unseen"


@LONG
def test_the_counter_gives_the_sizes_that_hugging_face_s_classes_have() -> None:
    t5 = transformers.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12)
    models = dict.fromkeys(("BERT base", "BERT large"), transformers.BertForPreTraining)
    models |= {"T5 base": transformers.T5ForConditionalGeneration}
    configs = {"GPT-1": "openai-gpt", "GPT-2 small": "gpt2", "LLaMA 7B": "llama", "BERT base": "bert"}
    configs = {name: transformers.AutoConfig.for_model(kind) for name, kind in configs.items()} | {"T5 base": t5}
    large, xl = transformers.BertConfig(), transformers.GPT2Config(n_layer=48, n_embd=1600, n_head=25)
    large.update({"num_hidden_layers": 24, "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16})
    configs |= {"BERT large": large, "GPT-2 1.5B": xl}
    for name, config in configs.items():
        with torch.device("meta"):
            model = models[name](config) if name in models else transformers.AutoModelForCausalLM.from_config(config)
        shape, wanted = published.shape_of(name), sum(weight.numel() for weight in model.parameters())
        assert published.counted(*published_questions.PUBLISHED[name][:2], shape.layers, shape.dim)[1] == wanted, name


def test_the_counter_gives_the_transformer_of_2017_the_weights_of_pytorch_s_and_one_shared_table() -> None:
    """Table 3 of the paper rounds to 65 and 213 million; which of its tokens both languages share is not said there."""
    for name, millions in (("Transformer of 2017, base", 65), ("Transformer of 2017, big", 213)):
        shape = published.shape_of(name)
        with torch.device("meta"):
            theirs = torch.nn.Transformer(shape.dim, shape.heads, shape.layers, shape.layers, shape.hidden, batch_first=True)
        last = 2 * 2 * shape.dim  # the norms that PyTorch has after the last layers
        wanted = sum(weight.numel() for weight in theirs.parameters()) - last + shape.vocab * shape.dim
        counted = published.counted(*published_questions.PUBLISHED[name][:2], shape.layers, shape.dim)[1]
        assert counted == pytest.approx(wanted, rel=1e-3) and counted == pytest.approx(millions * 1e6, rel=0.04)


def test_what_a_layer_keeps_is_what_a_layer_of_hugging_face_s_bert_makes() -> None:
    """Its own output shapes, for the number of heads times n²; at 512 tokens 12 · 512² weights, as the notes on the slides say."""
    config = ex.configure("bert", "base", 30_522)
    record = costs.memory(config, "BERT base")
    states, weights, hidden = (line.y for line in record.lines)
    at = list(record.lines[0].x).index(512)
    with torch.device("meta"):
        layer = transformers.models.bert.modeling_bert.BertLayer(transformers.BertConfig(attn_implementation="eager"))
        x = torch.zeros(1, 512, 768)
        rows = sum(
            linear(x).numel() for linear in (layer.attention.self.query, layer.attention.self.key, layer.attention.self.value)
        )
        rows += 2 * x.numel()  # its input, and z
        units = layer.intermediate(x).numel()
    alphas = layer.attention.self.num_attention_heads * 512**2
    assert alphas == 12 * 512**2 and f"{alphas:,}" in record.note
    np.testing.assert_allclose([states[at], weights[at], hidden[at]], np.array([rows, alphas, units]) / (rows + alphas + units))
    assert record.mark is not None and np.interp(record.mark[1], record.lines[0].x, weights) == pytest.approx(0.5, abs=0.05)


@LONG
@pytest.mark.parametrize("name", ["bert", "gpt2", "transformer"])
def test_an_arc_passes_every_sub_layer_and_its_norm(name: str) -> None:
    record = ex.analysis.blueprint(ex.load(name, device="cpu"), "The dog ran.")
    figure = VIEWS["blueprint"](record)
    arcs = [trace for trace in figure.data if trace.name == "residual connection"]
    sub_layers = [part for part in record.parts if part.name in ("attention", "cross-attention", "feed-forward")]
    boxes = dict(zip((part.title for part in record.parts), figure.data[0].base, strict=True))
    assert len(arcs) == len(sub_layers)
    for arc, part in zip(arcs, sub_layers, strict=True):
        around = [
            part.title,
            *(other.title for other in record.parts if other.stream == part.stream and other.name.endswith(f" {part.name}")),
        ]
        low, high = min(boxes[title] for title in around), max(boxes[title] for title in around)
        assert arc.y[0] < low and high < arc.y[-1] < high + 0.86, part.title


def test_the_lecture_s_table_has_its_numbers_and_ours_follow_from_them() -> None:
    for row in (
        "| Transformer, big | 28.4 | 41.8 | 2.3 × 10¹⁹ | 2.3 × 10¹⁹ | 1.0 |",
        "| GNMT + RL, ensemble | 26.3 | 41.16 | 1.8 × 10²⁰ | 1.1 × 10²¹ | 7.8 |",
        "| Deep-Att + PosUnk, ensemble | – | 40.4 | – | 8.0 × 10²⁰ | – |",
    ):
        assert row in published_questions.reached()
    rows, written = published_questions.TABLE, published_questions.WRITTEN
    assert len(rows) == 10 and len(written) == 6 and max(row[3] for row in written) == 38.8, "every row of the slides"
    said = published_questions.may_conclude()
    assert all(times in said for times in ("3.3 to 7.8 times", "0.4 to 1.0 times", "4.3 to 6.5 times", "0.02 to 0.34 of"))
    base, before = rows[-2], rows[:-2]
    assert all(row[1] < base[1] for row in before if row[1]) and all(row[2] > base[2] for row in before if row[2])
    assert all(max(row[n] or 0 for row in rows[:-1]) < rows[-1][n] for n in (1, 2)), "better than every model before"
    assert published_questions.exercises()[0].answer == pytest.approx(1.8e20 / 2.3e19)


@LONG
def test_reach_is_the_mean_of_what_gradients_say_by_distance(gpt2: TransformerModel, bert: TransformerModel) -> None:
    text, elmo = ex.microworld.texts(1, 1, "validation")[0], ex.load("elmo", device="cpu")
    for model, moved in ((gpt2, ex.visibility(gpt2, text).moved), (elmo, elmo_visibility(elmo, text)[0].moved)):  # type: ignore[arg-type]
        far = len(moved) - 10  # nine positions are left: all are taken, and none looks back at the begin token, which both have
        record = ex.analysis.reach([model], [text], far=far).lines[0]
        wanted = [np.mean([moved[i, i - k] / moved[i, i] for i in range(far + 1, len(moved))]) for k in range(far + 1)]
        np.testing.assert_allclose(record.y, wanted, rtol=1e-4)
    both = ex.analysis.reach([gpt2, elmo], [text], far=5)
    assert both.lines[1].y[0] == 1 and both.lines[1].label == "elmo, forward LSTM" and "up to 16 positions" in both.note
    with pytest.raises(ExplorerError, match="not a decoder"):
        ex.analysis.reach([bert], [text])


@pytest.mark.parametrize("name", attentive() if ALL else ["olmo2", "transformer", "t5"])
def test_a_block_of_the_blueprint_is_a_station_of_the_board(name: str) -> None:
    record = page_parts.built(name, "The dog slept.").run()
    sites = header(pack(page_parts.traced(name, "The dog slept.").run()))["sites"]
    stations = {(site["stream"], site["layer"]): site["stations"] for site in sites}
    shown = {part.title: place for part in record.parts if (place := page_parts.on_board(part, record)) is not None}
    assert all(place["station"] in stations[place["stream"], place["layer"]] for place in shown.values())
    assert all(part.title in shown for part in record.parts if part.kind in ("attention", "cross-attention", "feed-forward"))
    if "head: vocabulary" in shown:
        assert shown["head: vocabulary"]["layer"] == max(site["layer"] for site in sites)


@LONG
def test_a_block_that_was_clicked_is_opened_on_the_board() -> None:
    at = opened("families", model="gpt2", part="blueprint")
    at.selectbox("blueprint.block").select("decoder: feed-forward").run()
    at.button("blueprint.board").click().run()
    board_header = header(board_of(at))
    assert not at.exception and board_header["model"] == "gpt2" and board_header["host"]["view"]["station"] == "units"
    assert at.query_params["part"] == "residual-stream"


def test_the_families_page_says_what_gpt_s_three_lines_leave_out(gpt2: TransformerModel, bert: TransformerModel) -> None:
    """The last state times the table is not gpt2's score: a last layer norm is between them, and the page says so."""
    last = ex.trace(gpt2, "The dog saw the cat.").hidden["decoder"][-1]
    table, scores = gpt2.module.head.project.weight.detach().numpy(), gpt2.logits("The dog saw the cat.")
    assert np.abs(last @ table.T - scores).max() > 1 and "a last layer norm to $h_L$" in page_parts.beyond(gpt2.config)
    text = page_parts.beyond(bert.config)
    assert all(part in text for part in ("segment embeddings", "normalises $h_0$", "transforms $h_L$", "a bias"))
    assert page_parts.beyond(dataclasses.replace(gpt2.config, final_norm=False)) == ""
    for name, factor in (("transformer", "$UW_e$ by $\\sqrt d$"), ("t5", "$h_L$ by $1/\\sqrt d$")):
        model = ex.load(name, device="cpu")
        scale = model.module.embeddings.scale if name == "transformer" else 1 / model.module.head.scale
        assert factor in page_parts.beyond(model.config) and scale == pytest.approx(model.config.dim**0.5)


def test_a_block_without_parameters_is_not_said_to_equal_a_sentence(bart: TransformerModel) -> None:
    parts = ex.analysis.blueprint(bart, "The dog saw the cat.", target="The dog saw the cat.").parts
    assert "**0** (shared with" in page_parts.counted(next(part for part in parts if "shared" in part.written))
    assert "equal to" in page_parts.counted(next(part for part in parts if part.counted))


def test_the_board_of_the_translation_opens_where_a_row_reads_the_source_as_the_tour_says() -> None:
    """It opened at the decoder's own attention, whose columns are the words that were written."""
    step = next(step for step in STEPS if step.part == "cross-attention")
    trace = page_parts.translated(step.choices["text"]).run()
    begin = page_parts.source_first()
    _, columns = trace.axes(begin["stream"])
    assert "".join(columns.texts).replace("·", " ").strip().startswith(step.choices["text"])
    cross = [attention for attention in trace.attention if attention.stream == "cross"]
    assert begin["layer"] == cross[-1].layer
    rows, most = trace.axes("cross")[0].texts, cross[-1].weights[0].argmax(1)
    assert "river" in columns.texts[most[rows.index("·la")]], "the row that predicts “rivière” reads “river”"


def test_without_activation_the_two_matrices_of_a_feed_forward_layer_are_one(gpt2: TransformerModel) -> None:
    x = np.random.default_rng(0).normal(size=(3, gpt2.config.dim))
    layer = next(part for part in linear(gpt2).module.modules() if isinstance(part, FeedForward))
    (first, shift), (second, last) = (
        (part.weight.detach().double().numpy(), part.bias.detach().double().numpy()) for part in (layer.widen, layer.narrow)
    )
    with torch.no_grad():
        computed = layer(torch.tensor(x, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(computed, x @ (first.T @ second.T) + shift @ second.T + last, atol=1e-4)


def test_the_page_measures_what_the_activation_is_worth_where_it_can(gpt2: TransformerModel) -> None:
    texts = ex.microworld.texts(page_parts.FEW, 1, "validation")
    before = gpt2.logits(TEXT)
    usual, without = ex.analysis.losses_without_activation(gpt2, texts)
    np.testing.assert_array_equal(gpt2.logits(TEXT), before)
    np.testing.assert_array_equal(usual, ex.analysis.text_losses(gpt2, texts))
    assert (without > usual).all() and f"{without.mean():.2f} without it" in page_parts.activation("gpt2")
    assert "Measured" not in page_parts.activation("llama") and "128 × 128" in page_parts.activation("bart")
    with pytest.raises(ex.ExplorerError, match="gated"):
        ex.analysis.losses_without_activation(ex.load("llama", device="cpu"), texts)
