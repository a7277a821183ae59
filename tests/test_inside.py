"""What is inside a model: the steps of a layer, the lens, gradients, habits of heads, each against a formula or code that is not ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, SENTENCE, long

import explorer as ex
from explorer.app.lessons.heads import questions as lesson
from explorer.microworld import labelled, stories
from explorer.models.transformer import TransformerModel
from explorer.nn.layers import ACTIVATIONS, NORM_PLACES
from explorer.records import HeadStatistics, Trace
from explorer.records.trace import Attention
from explorer.views import VIEWS, theme
from explorer.views.attention import habit
from explorer.views.margins import TALL, widened
from explorer.views.sums import joined, summed

TARGET = "The dog slept."


@pytest.fixture(scope="module")
def theirs(gpt2: TransformerModel, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return ex.load(ex.export(gpt2, tmp_path_factory.mktemp("gpt2") / "gpt2"), native=False, device="cpu")


@torch.no_grad()
def test_the_lens_is_their_last_norm_and_head_on_every_layer(gpt2: TransformerModel, theirs: Any) -> None:
    record = ex.lens(gpt2, SENTENCE)
    module = theirs.module
    states = module.transformer(torch.tensor(record.tokens.ids)[None], output_hidden_states=True).hidden_states
    for layer, state in enumerate(states[:-1]):  # theirs has its last norm in the last of them already
        shares = module.lm_head(module.transformer.ln_f(state))[0].softmax(-1).numpy()
        assert np.abs(shares.max(-1) - record.chances[layer]).max() <= 1e-4
        assert np.abs(np.sort(shares)[:, :-4:-1] - record.shares[layer]).max() <= 1e-4
        first = int(shares[3].argmax())
        assert record.best[layer][3][0] == record.texts[layer][3] == gpt2.tokenizer.text_of(first)
    assert np.abs(module.lm_head(states[-1])[0].softmax(-1).numpy().max(-1) - record.chances[-1]).max() <= 1e-4
    assert record.gap == 0.0 and np.array_equal(record.chances[-1], record.final[-1])


@LONG
@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_the_last_layer_of_the_lens_is_the_model(name: str, tmp_path: Path) -> None:
    ours = ex.load(name, device="cpu")
    for model in (ours, ex.load(ex.export(ours, tmp_path / name), native=False, device="cpu")):
        target = {"target": TARGET} if model.family == "encoder-decoder" else {}
        record = ex.lens(model, SENTENCE, **target)
        top = ex.trace(model, SENTENCE, **target).top
        assert top is not None and record.gap == 0.0
        assert record.texts[-1] == tuple(row[0] for row in top.texts)
        assert np.abs(record.chances[-1] - np.exp(top.logp[:, 0])).max() <= 1e-5


@LONG
@pytest.mark.parametrize("name", ["bart", "t5"])
def test_without_a_target_the_lens_reads_what_the_model_writes(name: str, tmp_path: Path) -> None:
    ours = ex.load(name, device="cpu")
    theirs = ex.load(ex.export(ours, tmp_path / name), native=False, device="cpu").module
    source = torch.tensor([ours.tokens(SENTENCE).ids.tolist()])
    written = theirs.generate(source, max_new_tokens=24, do_sample=False, num_beams=1, forced_bos_token_id=None)
    record = ex.lens(ours, SENTENCE)
    assert len(record.tokens) > 3 and record.tokens.ids.tolist() == written[0, :-1].tolist()
    assert record.texts[-1] == tuple(ours.tokenizer.text_of(int(i)) for i in written[0, 1:])


def test_gradients_are_those_that_torch_finds_through_their_class(gpt2: TransformerModel, theirs: Any) -> None:
    record, module = ex.gradient(gpt2, SENTENCE, row=4), theirs.module
    ids = torch.tensor(record.tokens.ids)[None]
    words = module.transformer.wte(ids).detach().requires_grad_(True)
    logp = module(inputs_embeds=words).logits[0, 4].log_softmax(-1)
    (slope,) = torch.autograd.grad(logp.max(), words)
    entering = words + module.transformer.wpe(torch.arange(ids.shape[1]))
    assert np.abs((slope * entering)[0].detach().sum(-1).numpy() - record.values).max() <= 1e-3 * np.abs(record.values).max()
    assert record.logp == pytest.approx(float(logp.max().detach()), abs=1e-4) and np.all(record.values[5:] == 0)
    assert np.abs(ex.gradient(theirs, SENTENCE, row=4).values - record.values).max() <= 1e-3 * np.abs(record.values).max()


@LONG
@pytest.mark.parametrize("name", ["t5", *long("gpt2", "bert")])
def test_integrated_gradients_add_up_to_the_difference_of_log_p(name: str) -> None:
    """The completeness axiom of their paper, and the chosen token's own probability."""
    model = ex.load(name, device="cpu")
    target = {"target": TARGET} if name == "t5" else {}
    token = "·dog" if name == "gpt2" else "dog"
    record = ex.gradient(model, SENTENCE, row=4, token=token, steps=100, **target)
    assert record.integrated is not None and record.piece.strip("·▁ ") == "dog"
    difference = record.logp - record.nothing
    assert record.integrated.sum() == pytest.approx(difference, abs=0.02 * abs(difference) + 0.01)
    logits = torch.from_numpy(model.logits(SENTENCE, **target))[4].double().log_softmax(-1)
    ids = model.tokenizer.encode(token.replace("·", " "), special=False).ids
    assert record.logp == pytest.approx(float(logits[ids[0]]), abs=1e-4)
    assert ex.gradient(model, SENTENCE, row=4, **target).integrated is None


def test_integrated_gradients_are_the_sum_of_the_paper_s_formula(gpt2: TransformerModel, theirs: Any) -> None:
    record, module, steps = ex.gradient(gpt2, SENTENCE, row=4, steps=10), theirs.module, 10
    ids = torch.tensor(record.tokens.ids)[None]
    places = module.transformer.wpe(torch.arange(ids.shape[1])).detach()
    whole = module.transformer.wte(ids).detach() + places
    total, begin = torch.zeros_like(whole), whole.mean(1, keepdim=True)
    for step in range(steps):
        point = (begin + (whole - begin) * (step + 0.5) / steps).requires_grad_(True)
        logp = module(inputs_embeds=point - places).logits[0, 4].log_softmax(-1)
        best = gpt2.tokenizer.encode(record.piece.replace("·", " "), special=False).ids[0]
        total += torch.autograd.grad(logp[best], point)[0]
    wanted = (total / steps * (whole - begin))[0].sum(-1).numpy()
    assert record.integrated is not None and np.abs(record.integrated - wanted).max() <= 1e-3 * np.abs(wanted).max()


def test_a_causal_model_sees_no_future_and_an_encoder_sees_all(bert: Any, gpt2: TransformerModel, theirs: Any) -> None:
    for model in (gpt2, theirs):
        moved = ex.visibility(model, SENTENCE).moved
        assert (np.triu(moved, 1) == 0).all() and (moved[np.tril_indices(len(moved))] > 0).all()
    assert (ex.visibility(bert, SENTENCE).moved > 0).all()
    both = ex.visibility(ex.load("t5", device="cpu"), SENTENCE, target=TARGET)
    assert both.moved.shape == (len(both.rows), len(both.columns)) and (both.moved > 0).all()


def test_gradients_leave_nothing_behind(bert: TransformerModel) -> None:
    before = ex.trace(bert, SENTENCE)
    ex.gradient(bert, SENTENCE), ex.visibility(bert, SENTENCE)
    assert all(part.grad is None for part in bert.module.parameters())
    assert np.array_equal(before.outputs["lm"], ex.trace(bert, SENTENCE).outputs["lm"])


def test_habits_are_counted_cell_by_cell(gpt2: TransformerModel) -> None:
    from scipy.stats import entropy

    trace = ex.trace(gpt2, SENTENCE)
    record = ex.head_statistics(gpt2, [SENTENCE])
    weights, count = trace.attention[1].weights[0].astype(float), len(trace.source)
    hand = {
        "distance": np.mean([sum(w * abs(i - j) for j, w in enumerate(row)) for i, row in enumerate(weights)]),
        "to the first token": weights[:, 0].mean(),
        "to the token before": np.mean([weights[i, i - 1] if i else 0 for i in range(count)]),
        "to itself": np.mean(np.diag(weights)),
        "to the token after": 0.0,
        "sharpness": np.mean([1 - entropy(row[: i + 1]) / np.log(max(2, i + 1)) for i, row in enumerate(weights)]),
    }
    for name, value in hand.items():
        assert record.measures[name][1, 0] == pytest.approx(value, abs=1e-5), name
    assert record.even["to itself"] == pytest.approx(np.mean([1 / (n + 1) for n in range(count)]), abs=1e-6)
    assert record.even["to the token after"] == 0, "even attention shrinks with what a causal head sees"
    twice = ex.head_statistics(gpt2, [SENTENCE, SENTENCE])
    assert all(np.allclose(twice.measures[name], value) for name, value in record.measures.items())


MEANT = "from a pronoun to its antecedent"


def test_what_pronouns_mean_is_counted_from_the_labels_character_by_character(bert: TransformerModel) -> None:
    """Neither the tokens' places nor the sums of the code under test: characters of the story, and weights of single traces."""
    openings = [story.opening(5) for story in labelled(6, 7, "test")]
    assert [story.text for story in openings] == [" ".join(story[:5]) for story in stories(6, 7, "test")]
    hand, even = [], []
    for story in openings:
        trace = ex.trace(bert, story.text)
        spans, special = trace.source.offsets, trace.source.special
        for at, mention in enumerate(story.mentions):
            if mention.form != "pronoun" or len(mention.entities) != 1:
                continue
            before = [other for other in story.mentions[:at] if other.form != "pronoun" and other.last < mention.first]
            named = [other for other in before if mention.entities[0] in other.entities]
            words = [word for other in named for word in story.words[other.first : other.last + 1]]
            letters = {letter for word in words for letter in range(word.start, word.end)}
            keys = [n for n, (a, b) in enumerate(spans) if not special[n] and letters & set(range(a, b))]
            query = next(n for n, (a, b) in enumerate(spans) if b > a and b > story.words[mention.first].start)
            if keys:
                hand.append([attention.weights[:, query, keys].sum(-1) for attention in trace.attention])
                even.append(len(keys) / len(spans))
    record = ex.head_statistics(bert, openings)
    assert record.pronouns == len(hand) > 10
    assert np.abs(record.measures[MEANT] - np.mean(hand, axis=0)).max() <= 1e-6
    assert record.even[MEANT] == pytest.approx(np.mean(even), abs=1e-6)
    assert record.even["sharpness"] == pytest.approx(0, abs=1e-6)
    assert MEANT not in ex.head_statistics(bert, [story.text for story in openings[:1]]).measures


def test_a_head_is_chosen_on_some_stories_and_its_figure_is_of_others() -> None:
    """Head 1 is best where it was chosen (0.9) and not on the others (0.2): the figure is 0.2, and not their own best, 0.6."""
    assert lesson.MEANT == MEANT
    chosen, others = (
        HeadStatistics("some", "encoder", 24, {MEANT: np.array([[0.1, best], [0.3, last]])}, {MEANT: even}, count)
        for best, last, even, count in ((0.9, 0.4, 0.05, 50), (0.2, 0.6, 0.07, 44))
    )
    sentence = lesson.coreference(chosen, others)
    assert "head 1 of layer 0" in sentence and "**20.0%** over **44** pronouns" in sentence
    assert all(part in sentence for part in ("90.0% over 50", "all heads is 30.0%", "gives 7.0%")) and "60" not in sentence
    texts = [{story.text for story in ex.microworld.openings(24, seed, "test")} for seed in (lesson.CHOSEN, lesson.MEASURED)]
    assert len(texts[0]) == len(texts[1]) == 24 and not texts[0] & texts[1]


def test_rollout_is_the_product_of_its_paper(trace: Trace) -> None:
    whole = np.eye(len(trace.source))
    for attention in trace.attention:
        mixed = 0.5 * attention.weights.mean(0) + 0.5 * np.eye(len(whole))
        whole = (mixed / mixed.sum(-1, keepdims=True)) @ whole
    rollout = summed(trace, "encoder", "rollout")[0]
    assert np.allclose(rollout, whole, atol=1e-6) and np.allclose(rollout.sum(-1), 1, atol=1e-6)


def test_words_sum_over_keys_and_average_over_queries(bert: TransformerModel) -> None:
    word_trace = ex.trace(bert, "The unhappiest hippopotamus slept.")
    values, rows, columns = summed(word_trace, "encoder", "mean")
    words, wide, _ = joined(values, rows, columns, words=True, special=True)
    assert len(wide) == 2 + max(word_trace.source.words) + 1 < len(rows) and np.allclose(words.sum(-1), 1, atol=1e-5)
    number = next(w for w in rows.words if w >= 0 and rows.words.count(w) > 1)
    mine = [n for n, w in enumerate(rows.words) if w == number]
    at = 1 + number
    assert words[at, at] == pytest.approx(values[np.ix_(mine, mine)].sum(1).mean())
    assert not any(joined(values, rows, columns, words=False, special=False)[1].special)


def test_a_sink_and_a_head_that_does_not_choose_are_flagged(trace: Trace) -> None:
    count = len(trace.source)
    rest = np.full((1, count, count), 0.2 / (count - 1), np.float32)
    rest[:, :, 0] = 0.8
    even, mixed = np.full_like(rest, 1 / count), np.eye(count, dtype=np.float32)[None]
    layers = [Attention("encoder", 0, None, None, None, 1.0, np.ones((count, count), bool), w) for w in (rest, even, mixed)]
    warnings = [habit(attention, 0, trace.source) for attention in layers]
    assert "80% of the weight is on position 0" in warnings[0] and "almost uniform" in warnings[1] and warnings[2] == ""


def test_damage_is_the_divergence_of_the_runs(gpt2: TransformerModel) -> None:
    record = ex.damage(gpt2, SENTENCE)
    change_of = ex.change(gpt2, SENTENCE, ex.SilenceHead("decoder", 0, 1))
    before, after = (torch.tensor(t.outputs["lm"]).double().log_softmax(-1) for t in (change_of.before, change_of.after))
    bits = torch.nn.functional.kl_div(after, before, log_target=True, reduction="none").sum(-1).numpy() / np.log(2)
    assert np.abs(bits - change_of.divergence).max() <= 1e-9 and record.heads[0, 1] == pytest.approx(bits.mean(), rel=1e-5)
    assert record.names == ("attention", "feed-forward") and (record.heads > 0).all()
    below = ex.change(gpt2, SENTENCE, ex.SilenceHead("decoder", 1, 0)).downstream("decoder")
    assert (below[0] == 0).all() and ex.change(gpt2, SENTENCE, ()).divergence.max() == 0.0


def test_the_pictures_hold_the_numbers_of_their_records(trace: Trace, bert: TransformerModel) -> None:
    views, count = ex.views, len(trace.source)
    whole, top = np.asarray(views["glance"](trace, token="no token").data[0].z), max(a.weights.max() for a in trace.attention)
    for layer, attention in enumerate(trace.attention):
        for head, weights in enumerate(attention.weights):
            tile = whole[layer * (count + 1) :, head * (count + 1) :][:count, :count]
            assert np.abs(tile / 255 - weights / top).max() <= 0.5 / 255 + 1e-6
    assert whole.dtype == np.uint8
    for n in (0, count - 1):
        followed = views["glance"](trace, token=f"{trace.source.texts[n]} ({n})")
        rows = [row for attention in trace.attention for row in attention.weights[:, n]]
        most = [trace.source.texts[int(row.argmax())] for row in rows]
        assert [each.text for each in followed.layout.annotations] == most, (
            "below each head the token to which this one attends most"
        )
        said = [each[1] for each in next(each for each in followed.data if each.name == "heads").customdata]
        pairs = [f"“{trace.source.texts[n]}” → “{to}” {row.max():.2f}" for to, row in zip(most, rows, strict=True)]
        assert said == pairs, "a pointer over a head reads it with its weight"
    lens, slope = ex.lens(bert, SENTENCE), ex.gradient(bert, SENTENCE)
    last = views["lens"](lens, shown="the last layer's").data[0]
    assert np.allclose(last.z, lens.final.T)
    for shares, row, best in zip(lens.final.T, last.text, lens.best[-1], strict=True):
        assert list(row) == [*(theme.percent(share) for share in shares[:-1]), best[0]]
    for text, guesses in ((SENTENCE, 1), ("The dog slept.", 3)):
        room = widened(views["lens"](ex.lens(bert, text), shown="its own guess")).data[0].text
        lines = {len(cell.split("<br>")) for row in room for cell in row}
        assert lines == {min(guesses, TALL // len(room))}, "no word crosses the edge of its cell"
    large = views["enlarged"](trace, head="layer 1, head 2", token="no token").data[0]
    assert np.allclose(large.z, trace.attention[1].weights[2])
    bars = views["gradient"](slope, layer=1).data
    assert np.allclose(bars[0].y, slope.values / np.abs(slope.values).max())
    assert np.allclose(bars[1].customdata, slope.attention[1])
    silenced = ex.change(bert, SENTENCE, ex.SilenceHead("encoder", 0, 0))
    assert np.allclose(views["change"](silenced).data[0].x, silenced.divergence)
    assert np.allclose(views["downstream"](silenced).data[0].z, silenced.downstream("encoder"))


def weight(model: TransformerModel, name: str) -> np.ndarray:
    return model.module.state_dict()[name].numpy().astype(np.float64)


def linear(model: TransformerModel, name: str, x: np.ndarray) -> np.ndarray:
    bias = model.module.state_dict().get(f"{name}.bias")
    return x @ weight(model, f"{name}.weight").T + (0.0 if bias is None else bias.numpy())


def close(ours: np.ndarray, other: np.ndarray) -> None:
    np.testing.assert_allclose(ours, other, rtol=2e-4, atol=2e-5)


def norm(model: TransformerModel, name: str, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + model.config.norm_epsilon)
    return centred / deviation * weight(model, f"{name}.norm.weight") + weight(model, f"{name}.norm.bias")


@pytest.fixture(scope="module", params=NORM_PLACES)
def model(request: pytest.FixtureRequest, bert: TransformerModel) -> TransformerModel:
    return ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=3, device="cpu", norm_place=request.param, dim=32)


def test_every_step_is_the_formula_on_the_model_s_weights(model: TransformerModel) -> None:
    trace, head, width = ex.trace(model, SENTENCE, blocks=True), 1, 8
    place, part = model.config.norm_place, slice(head * width, (head + 1) * width)
    x = trace.hidden["encoder"][0].astype(np.float64)
    first, second = "layers.0.after_attention", "layers.0.after_feed_forward"
    reads = norm(model, first, x) if place == "pre" else x
    q, k, v = (linear(model, f"layers.0.attention.{name}", reads) for name in ("query", "key", "value"))
    per_head = [slice(h * width, (h + 1) * width) for h in range(4)]
    every_scores = [q[:, own] @ k[:, own].T / np.sqrt(width) for own in per_head]
    every_weights = [np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) for scores in every_scores]
    contexts = np.concatenate([weights @ v[:, own] for weights, own in zip(every_weights, per_head, strict=True)], axis=1)
    scores, weights, out = every_scores[head], every_weights[head], linear(model, "layers.0.attention.output", contexts)
    attention = trace.attention[0]
    around, after = (trace.block("encoder", 0, part) for part in ("attention", "feed-forward"))
    assert attention.q is not None and attention.k is not None and attention.v is not None
    for shown, wanted in (
        (around.given, x), (attention.q[head], q[:, part]), (attention.k[head], k[:, part]), (attention.v[head], v[:, part]),
        (attention.stage("scores", head), scores * np.sqrt(width)), (attention.stage("scaled", head), scores),
        (attention.stage("masked", head), scores), (attention.weights[head], weights), (attention.output, out),
        (np.concatenate([attention.stage("context", h) for h in range(4)], axis=1), contexts),
    ):  # fmt: skip
        close(np.asarray(shown), wanted)
    above = x + (norm(model, first, out) if place == "inside" else out)
    entering = norm(model, first, above) if place == "post" else above
    read = norm(model, second, entering) if place == "pre" else entering
    units = ACTIVATIONS["gelu"](model.module.layers[0].feed_forward.widen.weight.new_tensor(  # type: ignore[union-attr, operator]
        linear(model, "layers.0.feed_forward.widen", read))).double().numpy()  # fmt: skip
    computed = linear(model, "layers.0.feed_forward.narrow", units)
    total = entering + (norm(model, second, computed) if place == "inside" else computed)
    close(around.total, above)
    close(np.asarray(after.units), units)
    close(after.norm_input if place == "inside" else after.out, computed)
    close(after.total, total)
    leaving = norm(model, second, total) if place == "post" else total
    close(trace.hidden["encoder"][1], leaving)
    close(after.normed if place == "post" else after.total, leaving)


def test_hidden_units_are_handed_out_for_every_kind_of_feed_forward_layer(bert: TransformerModel) -> None:
    for activation in ACTIVATIONS:
        model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", activation=activation)
        block = ex.trace(model, "A dog.", blocks=True).block("encoder", 1, "feed-forward")
        assert block.units is not None
        close(linear(model, "layers.1.feed_forward.narrow", block.units), block.out)


def test_a_trace_without_blocks_says_how_to_make_one(bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="blocks=True"):
        VIEWS["residual-stream"](ex.trace(bert, SENTENCE))
    with pytest.raises(ex.ExplorerError, match="blocks=True"):
        ex.trace(bert, SENTENCE).block("encoder", 0, "attention")


def test_attention_with_nothing_to_learn_is_softmax_of_x_x(trace: Trace) -> None:
    x = trace.hidden["encoder"][0].astype(np.float64)
    for causal in (False, True):
        seen = np.tril(np.ones((len(x), len(x)))) if causal else np.ones((len(x), len(x)))
        powers = np.exp(x @ x.T) * seen
        weights = powers / powers.sum(axis=1, keepdims=True)
        for stage, wanted in {"x·x": x @ x.T, "softmax": weights, "Σ α x": weights @ x}.items():
            drawn = np.asarray(VIEWS["simple"](trace, stage=stage, causal=causal).data[0].z)
            if stage != "Σ α x":
                assert np.array_equal(np.isfinite(drawn), seen.astype(bool))
                drawn, wanted = np.nan_to_num(drawn), wanted * seen
            close(drawn, wanted)


def test_both_masks_show_the_same_scores_and_rows_that_sum_to_one(trace: Trace) -> None:
    full, back = VIEWS["masks"](trace, stage="scores").data
    close(np.asarray(full.z), trace.attention[0].stage("scaled", 0))
    lower = np.tril(np.ones_like(full.z)).astype(bool)
    np.testing.assert_array_equal(np.isfinite(back.z), lower)
    np.testing.assert_array_equal(np.asarray(back.z)[lower], np.asarray(full.z)[lower])
    full, back = VIEWS["masks"](trace, stage="weights").data
    close(np.asarray(full.z), trace.attention[0].weights[0])
    close(np.nansum(back.z, axis=1), np.ones(len(lower)))
    assert back.text[0][1] == "−∞" and back.text[1][0] == "q<sub>2</sub>·k<sub>1</sub>"
