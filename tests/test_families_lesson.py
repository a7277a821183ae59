"""Three families: masks, parameters, sums and costs against formulas, against PyTorch and against models run by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from conftest import ALL
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
from explorer.app import recorded
from explorer.app.controls import attentive
from explorer.app.lessons.families import parts as page_parts
from explorer.app.lessons.families import published, published_questions
from explorer.app.lessons.families import questions as lesson
from explorer.errors import ExplorerError
from explorer.models import results
from explorer.models.elmo import ElmoModel
from explorer.models.factory import configure
from explorer.models.presets import PRESETS
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import FAMILIES
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
    for query in range(7):
        for key in range(7):
            assert allowed[FULL][query, key]
            assert allowed[CAUSAL][query, key] == (key <= query)
            assert allowed[PREFIX][query, key] == (key <= query or (query < 3 and key < 3))


def test_the_losses_of_a_decoder_are_pytorch_s(gpt2: TransformerModel) -> None:
    record = under_masks(gpt2, TEXT)
    ids = torch.tensor([0, *gpt2.tokenizer.encode(TEXT, special=False).ids.tolist()])
    assert record.wanted.ids.tolist() == ids[1:].tolist() and gpt2.tokenizer.vocabulary.begin == 0
    with torch.no_grad():
        scores = gpt2.module.outputs(gpt2.module(ids[None, :-1]))["lm"][0]
        wanted = functional.cross_entropy(scores, ids[1:], reduction="none").numpy()
    for name in (OWN, CAUSAL):
        np.testing.assert_allclose(record.losses[MASKS.index(name)], wanted, atol=1e-4)
    later = slice(record.prefix, None)
    assert not np.allclose(record.losses[MASKS.index(PREFIX)][later], wanted[later]), (
        "what stands behind reads a changed prefix"
    )
    for name, allowed in masks(len(ids), record.prefix).items():
        assert np.array_equal(record.traces[name].attention[0].allowed, allowed)


def test_the_losses_of_an_encoder_are_those_of_one_hidden_piece_each(bert: TransformerModel) -> None:
    record = under_masks(bert, TEXT)
    tokens = bert.tokens(TEXT)
    for n, place in ((0, 1), (4, 5)):
        ids = tokens.ids.copy()
        ids[place] = bert.tokenizer.vocabulary.mask
        scores = torch.tensor(bert.logits(ids.tolist())[place])
        wanted = float(functional.cross_entropy(scores, torch.tensor(int(tokens.ids[place]))))
        assert record.losses[MASKS.index(OWN)][n] == pytest.approx(wanted, abs=1e-4)
        assert record.losses[MASKS.index(FULL)][n] == pytest.approx(wanted, abs=1e-4)


def test_an_encoder_under_a_causal_mask_sees_nothing_ahead(bert: TransformerModel) -> None:
    first = bert.tokens(TEXT)
    edited = ex.trace(bert, first, edits=[ex.SetMask("encoder", np.tril(np.ones((len(first),) * 2, bool)))])
    assert np.array_equal(edited.attention[0].allowed, under_masks(bert, TEXT).traces[CAUSAL].attention[0].allowed)
    assert not np.triu(edited.attention[-1].weights[0], 1).any()


def test_trained_weights_are_lost_under_the_other_mask(shipped: TransformerModel) -> None:
    record = held_losses(shipped, STORIES, count=6)
    before, after = (record.means()[MASKS.index(name)] for name in (OWN, lesson.other(shipped.family)))
    assert (after > before).all() and record.losses.shape[-1] == PIECES + (shipped.family == "encoder")
    question = lesson.mask_question(record)
    assert question.answer == "it rises" and f"{after.mean():.2f}" in question.why
    same = CAUSAL if shipped.family == "decoder" else FULL
    np.testing.assert_allclose(record.losses[0], record.losses[MASKS.index(same)], atol=1e-4)


def test_the_held_out_loss_is_pytorch_s(gpt2: TransformerModel) -> None:
    record = held_losses(gpt2, STORIES, count=1)
    ids = next(ids for text in STORIES if len(ids := [0, *gpt2.tokenizer.encode(text, special=False).ids.tolist()]) > PIECES)
    labels = torch.tensor(ids[: PIECES + 1])
    with torch.no_grad():
        scores = gpt2.module.outputs(gpt2.module(labels[None, :-1]))["lm"][0]
    assert record.means()[0, 0] == pytest.approx(float(functional.cross_entropy(scores, labels[1:])), abs=1e-4)


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_texts_are_refused(gpt2: TransformerModel, text: str) -> None:
    with pytest.raises(ex.ExplorerError, match="empty"):
        under_masks(gpt2, text)


@pytest.mark.parametrize(("before", "after", "outcome"), [(2.0, 0.1, 0), (2.0, 1.5, 1), (2.0, 2.05, 2), (2.0, 3.0, 3)])
def test_what_a_loss_did(before: float, after: float, outcome: int) -> None:
    assert lesson.fate(before, after) == lesson.OPTIONS[outcome]


def test_questions_about_the_recorded_training_follow_its_lines() -> None:
    names = {
        "trained with the mask, read with the mask": 2.0, "trained without it, read without it": 0.01,
        "trained without it, read with the mask": 4.0, "trained without it, random tokens, read without it": 0.5,
    }  # fmt: skip
    curves = Curves("", "", "", tuple(spread(name, np.arange(2.0), np.full((2, 2), end)) for name, end in names.items()))
    assert (
        (question := lesson.copy_question(curves, 2000)).answer == "almost nothing"
        and "0.50" in question.why
        and "7.60" in question.why
    )
    assert lesson.writing_question(curves).answer == "it writes worse"


@pytest.fixture(scope="module")
def bart() -> TransformerModel:
    return ex.load("bart", device="cpu")


@pytest.mark.parametrize("name", [name for name, stored in ex.models().items() if stored.about()["preset"] in TRANSFORMERS])
def test_every_parameter_is_counted_once_and_the_formula_agrees(name: str) -> None:
    model = ex.load(name, device="cpu")
    assert isinstance(model, TransformerModel)
    record = blueprint(model, "Dog")
    assert [part.title for part in record.parts if part.counted != part.expected] == []
    assert sum(part.counted for part in record.parts) == record.total == total(model.config)
    assert record.total == sum(weight.numel() for weight in model.module.parameters())
    for part in record.parts:
        if part.weights and part.kind != "head":
            assert part.times * sum(int(np.prod(shape)) for _, shape in part.weights) == part.counted


@pytest.mark.parametrize("name", ["bert", "gpt2", "olmo2"])
def test_a_norm_is_named_and_drawn_where_it_is_computed(name: str) -> None:
    """Its name says before or after as the model runs it, and in a pre-norm model its box is below its block."""
    model = ex.load(name, device="cpu")
    assert isinstance(model, TransformerModel)
    layer, order = model.module.layers[0], []
    values = [
        part.register_forward_hook(lambda *_, word=word: order.append(word))
        for word, part in (("norm", layer.after_attention.norm), ("attention", layer.attention))
    ]
    ex.trace(model, TEXT)
    for hook in values:
        hook.remove()
    record = blueprint(model, TEXT)
    named = "norm before attention" if order.index("norm") < order.index("attention") else "norm after attention"
    assert [part.name for part in record.parts if part.name.startswith("norm") and part.name.endswith(" attention")] == [named]
    rows = {title.partition(": ")[2]: row for title, (_, row) in layout(record).items()}
    assert (rows[named] < rows["attention"]) == named.startswith("norm before")


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
    model = ex.load(name, device="cpu")
    assert isinstance(model, TransformerModel)
    config, rows = model.config, 13
    ids = torch.arange(1, rows + 1)[None]
    with torch.no_grad(), tap.listening(lambda *heard: None), FlopCounterMode(display=False) as counter:
        if model.family == "encoder-decoder":
            memory = model.module.encode(ids[:, :7])
            model.module.head(model.module.decode(memory, ids))
        else:
            model.module.head(model.module(ids))
    wanted = config.layers * costs.layer(config, rows) + costs.vocabulary(config, rows)
    if model.family == "encoder-decoder":
        wanted += costs.encoding(config, 7) + config.layers * (
            costs.projections(config, rows, 7) + costs.pairs(config, rows, 7)
        )
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
    at_512 = costs.pairs(config, 512, 512) / costs.layer(config, 512)
    assert at_512 == pytest.approx(0.1)
    for line in zip(*(line.y for line in costs.by_length(config, "BERT base").lines), strict=True):
        assert sum(line) == pytest.approx(1)


def test_one_wrong_piece_changes_nothing_before_it_and_the_chances_are_the_model_s(gpt2: TransformerModel) -> None:
    record = exposure_bias(gpt2, STORIES, count=2, steps=3)
    ids = gpt2.tokenizer.encode(STORIES[0], special=False).ids[:12]
    logp = torch.tensor(gpt2.logits([0, *ids.tolist()])).log_softmax(-1)
    wanted = [float(logp[place, ids[place]].exp()) for place in range(9, 12)]
    np.testing.assert_allclose(record.taught[0], wanted, atol=1e-5)
    order = logp[8].argsort(descending=True).tolist()
    slip = next(piece for piece in order if piece != ids[8])
    assert record.slips[0] == gpt2.tokenizer.text_of(slip)
    changed = torch.tensor(gpt2.logits([0, *ids[:8].tolist(), slip, *ids[9:].tolist()])).log_softmax(-1)
    np.testing.assert_allclose(record.wrong[0], [float(changed[n, ids[n]].exp()) for n in range(9, 12)], atol=1e-5)
    assert record.free[0, 0] == pytest.approx(record.wrong[0, 0], abs=1e-6), "right after the slip both have read the same"
    begun = [0, *ids[:8].tolist()]
    *_, last = ex.decode(gpt2, begun, force={0: slip}, max_tokens=4)
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
    assert (onward.moved > 0).tolist() == np.tril(np.ones(onward.moved.shape)).astype(bool).tolist()
    assert (back.moved > 0).tolist() == np.triu(np.ones(back.moved.shape)).astype(bool).tolist()
    states = ex.trace(elmo, "The dog was tired.").hidden
    other = ex.trace(elmo, "The dog was afraid.").hidden
    same = [np.array_equal(states["forward"][-1, n], other["forward"][-1, n]) for n in range(len(onward.rows))]
    assert same == (onward.moved[:, onward.rows.texts.index("tired")] == 0).tolist()


def test_the_norm_by_hand_is_pytorch_s(gpt2: TransformerModel, bart: TransformerModel) -> None:
    for trace, module in (
        (ex.trace(gpt2, TEXT, blocks=True), gpt2.module),
        (ex.trace(bart, TEXT, target=TEXT, blocks=True), bart.module),
    ):
        block = trace.block("decoder", 1, "feed-forward")
        drawn = np.asarray(VIEWS["norm-by-hand"](trace, block="decoder 1: feed-forward", place=2).data[0].z)
        norm = module.layers[1].after_feed_forward.norm
        with torch.no_grad():
            wanted = norm(torch.tensor(np.array(block.norm_input[2]))).numpy()
        np.testing.assert_allclose(drawn[2], wanted, atol=1e-5)
        np.testing.assert_allclose(drawn[3], wanted, atol=1e-6)
        assert abs(drawn[1].mean()) < 1e-5 and drawn[1].std() == pytest.approx(1, abs=1e-3)


def test_the_stream_is_drawn_from_its_blocks(gpt2: TransformerModel) -> None:
    trace = ex.trace(gpt2, TEXT, blocks=True)
    came, *_ = VIEWS["residual-stream"](trace, word=stream.words(trace)[3]).data
    assert len(came.y) == 2 * gpt2.config.layers
    mean = VIEWS["residual-stream"](trace).data
    np.testing.assert_allclose(mean[0].y[0], np.linalg.norm(trace.hidden["decoder"][0], axis=-1).mean(), rtol=1e-5)
    np.testing.assert_allclose(mean[2].y[-1], np.linalg.norm(trace.hidden["decoder"][-1], axis=-1).mean(), rtol=1e-5)


def test_the_input_is_the_sum_of_its_rows(bert: TransformerModel) -> None:
    drawn = np.asarray(VIEWS["input-sum"](ex.trace(bert, TEXT), word=2).data[0].z)
    tokens = bert.tokens(TEXT)
    parts = bert.module.embeddings
    with torch.no_grad():
        wanted = [parts.tokens.weight[int(tokens.ids[2])], parts.position.table.weight[2], parts.segments.weight[0]]
    np.testing.assert_allclose(drawn[:3], torch.stack(wanted).detach().numpy(), atol=1e-6)
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


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "t5"])
def test_a_doubled_width_makes_feed_forward_layers_about_four_times_as_large(name: str) -> None:
    """The parameters of the same model with twice the width, counted in PyTorch; embeddings only double."""
    model = ex.load(name, device="cpu")
    wide = Transformer(dataclasses.replace(model.config, dim=2 * model.config.dim, hidden=2 * model.config.hidden))
    before, after = (
        sum(weight.numel() for part, weight in net.named_parameters() if ".feed_forward." in part)
        for net in (model.module, wide)
    )
    question = lesson.doubling_question(blueprint(model, TEXT, **({"target": TEXT} if name == "t5" else {})))
    assert question.answer == "four times as many" and after / before == pytest.approx(4, rel=0.02)
    assert f"{before:,}" in question.question


def test_training_without_the_mask_is_the_same_training_but_for_the_mask() -> None:
    size = unmasked.UnmaskedSize(steps=2, batch=2, checks=2, stories=20, held_out=2, length=16, dim=16, seeds=(0,))
    batches = [unmasked.begun(masked, 0, size).batch(1) for masked in (True, False)]
    assert np.array_equal(batches[0].source, batches[1].source) and np.array_equal(batches[0].labels, batches[1].labels)
    curves, *texts = unmasked.STUDIES["unmasked"].measured(size).values()
    assert [line.label for line in curves.lines] == [f"{way}, {what}" for way, what in unmasked.LINES]
    assert [type(text) for text in texts] == [Written, Written]


def test_without_the_mask_padding_stays_unseen() -> None:
    allowed = torch.ones(4, 4, dtype=torch.bool).tril() & torch.tensor([True, True, True, False])
    lifted = unmasked.Lifted("decoder").changed(allowed[None, None])
    assert lifted[0, 0].tolist() == [[True, True, True, False]] * 4


@pytest.mark.skipif(not recorded.there("unmasked"), reason="not measured here")
def test_the_recorded_training_shows_what_the_page_says() -> None:
    measured = results.result("unmasked")
    assert lesson.copy_question(measured, 2000).answer == "almost nothing"
    assert lesson.writing_question(measured).answer == "it writes worse"
    for part in ("with", "without"):
        assert results.recorded("unmasked", Written, part).size == 2000


def test_the_counter_gives_the_sizes_that_hugging_face_s_classes_have() -> None:
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        BertConfig,
        BertForPreTraining,
        T5Config,
        T5ForConditionalGeneration,
    )

    def size(module: torch.nn.Module) -> int:
        return sum(weight.numel() for weight in module.parameters())

    with torch.device("meta"):
        theirs = {
            "BERT base": size(BertForPreTraining(BertConfig())),
            "GPT-1": size(AutoModelForCausalLM.from_config(AutoConfig.for_model("openai-gpt"))),
            "GPT-2 small": size(AutoModelForCausalLM.from_config(AutoConfig.for_model("gpt2"))),
            "LLaMA 7B": size(AutoModelForCausalLM.from_config(AutoConfig.for_model("llama"))),
            "T5 base": size(T5ForConditionalGeneration(T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12))),
        }
    for name, wanted in theirs.items():
        config = published.shape_of(name)
        assert published.counted(*published_questions.PUBLISHED[name], config.layers, config.dim)[1] == wanted, name


def test_the_lecture_s_table_has_its_numbers_and_ours_follow_from_them() -> None:
    expected = published_questions.reached()
    assert (
        "| Transformer, big | 28.4 | 41.8 | 2.3 × 10¹⁹ | 2.3 × 10¹⁹ | 1.0 |" in expected
        and "| GNMT + RL, ensemble | 26.3 | 41.16 | 1.8 × 10²⁰ | 1.1 × 10²¹ | 7.8 |" in expected
        and "| Deep-Att + PosUnk, ensemble | – | 40.4 | – | 8.0 × 10²⁰ | – |" in expected
    )
    assert len(published_questions.TABLE) == 10 and len(published_questions.WRITTEN) == 6, "every row of the slides"
    assert max(row[3] for row in published_questions.WRITTEN) == 38.8
    assert "3.3 to 7.8 times" in published_questions.may_conclude() and "0.4 to 1.0 times" in published_questions.may_conclude()
    rows = published_questions.TABLE
    assert all(max(row[column] or 0 for row in rows[:-1]) < rows[-1][column] for column in (1, 2)), (
        "better than every model before"
    )
    assert published_questions.exercises()[0].answer == pytest.approx(1.8e20 / 2.3e19)


def test_reach_is_the_mean_of_what_gradients_say_by_distance(gpt2: TransformerModel) -> None:
    text = ex.microworld.texts(1, 1, "validation")[0]
    elmo = ex.load("elmo", device="cpu")
    assert isinstance(elmo, ElmoModel)
    for model, moved in ((gpt2, ex.visibility(gpt2, text).moved), (elmo, elmo_visibility(elmo, text)[0].moved)):
        far = len(moved) - 10  # nine positions are left: all are taken, and none looks back at the begin token, which both have
        record = ex.analysis.reach([model], [text], far=far).lines[0]
        wanted = [np.mean([moved[i, i - k] / moved[i, i] for i in range(far + 1, len(moved))]) for k in range(far + 1)]
        np.testing.assert_allclose(record.y, wanted, rtol=1e-4)
    both = ex.analysis.reach([gpt2, elmo], [text], far=5)
    assert both.lines[1].y[0] == 1 and both.lines[1].label == "elmo, forward LSTM" and "up to 16 positions" in both.note
    with pytest.raises(ExplorerError, match="no decoder"):
        ex.analysis.reach([ex.load("bert", device="cpu")], [text])


@pytest.mark.parametrize("name", attentive() if ALL else ["olmo2", "transformer", "t5"])
def test_a_block_of_the_blueprint_is_a_station_of_the_board(name: str) -> None:
    record = page_parts.built(name, "The dog slept.").run()
    sites = header(pack(page_parts.traced(name, "The dog slept.").run()))["sites"]
    stations = {(site["stream"], site["layer"]): site["stations"] for site in sites}
    places = {part.title: page_parts.on_board(part, record) for part in record.parts}
    shown = {title: place for title, place in places.items() if place is not None}
    assert all(place["station"] in stations[place["stream"], place["layer"]] for place in shown.values())
    assert all(part.title in shown for part in record.parts if part.kind in ("attention", "cross-attention", "feed-forward"))
    if "head: vocabulary" in shown:
        assert shown["head: vocabulary"]["layer"] == max(site["layer"] for site in sites)


def test_a_block_that_was_clicked_is_opened_on_the_board() -> None:
    at = opened("families", model="gpt2", part="blueprint")
    at.radio("guess.doubling").set_value(at.radio("guess.doubling").options[0]).run()
    at.selectbox("blueprint.block").select("decoder: feed-forward").run()
    at.button("blueprint.board").click().run()
    board_header = header(board_of(at))
    assert not at.exception and board_header["model"] == "gpt2" and board_header["host"]["view"]["station"] == "units"
    assert at.query_params["part"] == "residual-stream"
