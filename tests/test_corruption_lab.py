"""What the corruption lab counts, hides, guesses and asks, against formulas, exhaustive search and torch."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter

import numpy as np
import pytest
import torch
from conftest import SENTENCE, long, sample
from opening import opened, pictures
from streamlit.testing.v1 import AppTest
from torch.nn import functional

import explorer as ex
from explorer.analysis.predictions import generator
from explorer.app.lessons.corruption import matrix, parts
from explorer.app.lessons.corruption import questions as lesson
from explorer.corruption import counting
from explorer.corruption.masking import COINS
from explorer.corruption.rows import rows_of
from explorer.corruption.spans import t5_law
from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.models import results
from explorer.models.presets import PRESETS
from explorer.models.transformer import TransformerModel
from explorer.records import Corruption, Rates
from explorer.text.sentinels import with_sentinels
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories as stories
from explorer.views import VIEWS
from explorer.views.strategies import answered, boxes, group_of, placed
from explorer.views.tiles import LEFT_OUT, LOSS
from studies import planted

LONG = " ".join(" ".join(story) for story in stories(8, 3))


@pytest.fixture(scope="module")
def tokenizer(bert: TransformerModel) -> Tokenizer:
    return with_sentinels(bert.tokenizer)


def corrupted(name: str, tokenizer: Tokenizer, seed: int = 0, text: str = lesson.STORY) -> Corruption:
    return ex.corrupt(text, name, tokenizer=tokenizer, seed=seed, corpus=["Tom had a ball. It fell."] if name == "nsp" else ())


# what was mended in the strategies


def test_coin_flips_are_binomial(tokenizer: Tokenizer) -> None:
    record = counting.rates(lesson.STORY, tokenizer=tokenizer, draws=4000)
    count = record.pieces
    hidden = np.rint(record.of(COINS) * count).astype(int)
    for k in range(count // 2):
        law = math.comb(count, k) * 0.15**k * 0.85 ** (count - k)
        assert abs((hidden == k).mean() - law) <= 4 * math.sqrt(max(law, 1e-4) / 4000) + 1e-9
    assert set(np.rint(record.of("mlm") * count)) == {round(0.15 * count)}
    none = ex.corrupt("Dog", "mlm", tokenizer=tokenizer, exact=False, rate=1e-9)
    assert none.realised == 0 and not none.scored.any(), "a coin may hide nothing"


@pytest.mark.parametrize("seed", sample(40, 8))
def test_the_segments_of_a_pair_are_the_tokenizer_s(tokenizer: Tokenizer, seed: int) -> None:
    for name in PAIRS:
        corruption = corrupted(name, tokenizer, seed)
        text = [piece for piece, flag in zip(corruption.source.texts, corruption.source.special, strict=True) if not flag]
        first = next(n for n, part in enumerate(corruption.source.segments) if part) - 2
        whole = tokenizer.encode(
            tokenizer.decode(corruption.source.ids[1 : first + 1].tolist()),
            tokenizer.decode(corruption.source.ids[first + 2 : -1].tolist()),
        )
        assert whole.segments == corruption.source.segments and whole.ids.tolist() == corruption.source.ids.tolist() and text
        swapped = corruption.labels == {"sop": (1,)}
        assert (
            swapped == ("moved" in corruption.action)
            and corruption.source.texts[0] == "[CLS]"
            and corruption.action[0] == "kept"
        )


@pytest.mark.parametrize("seed", sample(60, 10))
def test_the_spans_of_spanbert_stay_apart_and_are_counted_as_drawn(tokenizer: Tokenizer, seed: int) -> None:
    corruption = corrupted("spanbert", tokenizer, seed, LONG)
    hidden = [place for start, count in corruption.spans for place in range(start, start + count)]
    assert hidden == np.flatnonzero(corruption.scored).tolist()
    words = np.array(corruption.original.words)
    assert len({corruption.action[start] for start, count in corruption.spans for _ in range(count)}) >= 1
    for start, count in corruption.spans:
        assert len(set(corruption.action[start : start + count])) == 1, "one decision for each span"
    sizes = Counter(len(set(words[start : start + count])) for start, count in corruption.spans)
    counted = counting.span_lengths(LONG, "spanbert", tokenizer=tokenizer, draws=1, seed=seed)
    assert {
        int(n): round(share * counted.spans) for n, share in zip(counted.lengths, counted.realised, strict=True) if share
    } == sizes


@pytest.mark.parametrize("name", [*STRATEGIES, *PAIRS])
@pytest.mark.parametrize("seed", sample(10, 2))
def test_the_realised_rate_is_what_can_be_counted(name: str, seed: int, tokenizer: Tokenizer) -> None:
    corruption = corrupted(name, tokenizer, seed)
    text = {n for n, word in enumerate(corruption.original.words) if word >= 0}
    as_it_was = {
        p
        for origins, done in zip(corruption.origin, corruption.action, strict=True)
        if done in ("kept", "moved")
        for p in origins
    }
    moved = sum(done == "moved" for done in corruption.action)
    gone = len(text - as_it_was) or moved or sum(done == "inserted" for done in corruption.action)
    assert corruption.realised == pytest.approx(gone / len(text))
    if not math.isnan(corruption.nominal) and name != "pegasus":
        assert abs(corruption.realised - corruption.nominal) <= 0.5 / len(text) + 1e-9, "moving beside hiding is not counted"


# counting


def test_the_law_of_t5_s_lengths_is_what_all_cuts_give() -> None:
    for length in (12, 33, 58, 90):
        hidden = round(length * 0.15)
        spans = max(1, round(hidden / 3))
        ways = [c for c in itertools.product(range(1, hidden + 1), repeat=spans) if sum(c) == hidden]
        counts = Counter(size for way in ways for size in way)
        law = t5_law(length)
        assert law.sum() == pytest.approx(1)
        for size, share in enumerate(law):
            assert share == pytest.approx(counts[size] / (len(ways) * spans))


@pytest.mark.parametrize("name", counting.laws())
def test_realised_lengths_come_near_their_law_in_a_long_text(name: str, tokenizer: Tokenizer) -> None:
    record = counting.span_lengths(LONG, name, tokenizer=tokenizer, draws=300)
    law, came = record.means
    assert record.nominal.sum() == pytest.approx(1, abs=1e-5) and record.realised.sum() == pytest.approx(1)
    assert law == pytest.approx({"spanbert": 3.797, "bart-infill": 3.0}.get(name, came), abs=0.05)
    if name == "t5":
        assert np.abs(record.nominal - record.realised).max() < 4 * math.sqrt(0.25 / record.spans)
    short = counting.span_lengths(SENTENCE, name, tokenizer=tokenizer, draws=300).means
    assert name == "t5" or short[1] < came < law, "cut spans are shorter, and more so in a short text"
    assert (record.lengths[0] == 0) == (name == "bart-infill"), "only BART's spans may be empty"


def test_sentences_are_scored_as_rouge_is_defined(tokenizer: Tokenizer) -> None:
    record = counting.gap_sentences(LONG, tokenizer=tokenizer, rate=0.2)
    tokens = tokenizer.encode(LONG)
    parts = [
        [i for i, s in zip(tokens.ids.tolist(), tokens.sentences, strict=True) if s == n]
        for n in range(max(tokens.sentences) + 1)
    ]
    for n, (part, score) in enumerate(zip(parts, record.scores, strict=True)):
        rest = Counter(i for m, other in enumerate(parts) if m != n for i in other)
        shared = sum((Counter(part) & rest).values())
        precision, recall = shared / len(part), shared / rest.total()
        assert score == pytest.approx(2 * precision * recall / (precision + recall) if shared else 0)
    best = sorted(range(len(parts)), key=lambda n: (-record.scores[n], n))[: round(0.2 * len(parts))]
    assert [n for n, chosen in enumerate(record.chosen) if chosen] == sorted(best)
    assert all(sentence == tokenizer.decode(part) for sentence, part in zip(record.sentences, parts, strict=True))


# sentinels, hiding, guessing


def test_sentinels_are_added_to_a_copy(bert: TransformerModel, tokenizer: Tokenizer) -> None:
    assert bert.tokenizer.vocabulary.sentinels == () and len(tokenizer.vocabulary.sentinels) == 100
    assert tokenizer.encode(lesson.STORY).ids.tolist() == bert.tokenizer.encode(lesson.STORY).ids.tolist()
    corruption = ex.corrupt(LONG, "t5", tokenizer=tokenizer, roll=True)
    assert corruption.target is not None
    marks = [text for text in corruption.source.texts if text.startswith("<extra_id")]
    assert marks == [f"<extra_id_{n}>" for n in range(len(marks))] and len(marks) > 3
    hides: dict[str, list[str]] = {}
    for text in corruption.target.texts[:-1]:
        hides.setdefault(text, []) if text in marks else hides[list(hides)[-1]].append(text)
    assert [t for text in corruption.source.texts for t in hides.get(text, [text])] == list(corruption.original.texts)


@pytest.mark.parametrize("count", [0, 2**31])
def test_no_more_sentinels_than_a_text_has_spans(count: int, tokenizer: Tokenizer) -> None:
    with pytest.raises(ex.ExplorerError, match="between 1 and 10,000"):
        with_sentinels(tokenizer, count)


def test_chosen_words_are_hidden_whole(bert: TransformerModel) -> None:
    text = "The breadbasket was tired. It was tired."
    corruption = ex.hide(text, ["Tired", 1], tokenizer=bert.tokenizer)
    words = np.array(corruption.original.words)
    tired = {w for w, t in zip(words, corruption.original.texts, strict=True) if t == "tired"}
    np.testing.assert_array_equal(corruption.scored, np.isin(words, [1, *tired]))
    assert (corruption.source.ids[corruption.scored] == bert.tokenizer.vocabulary.mask).all() and corruption.scored.sum() > 3
    for wrong in (["zebra"], [], "tired", [99], [-1], [True], [1.5]):
        with pytest.raises(ex.ExplorerError, match="word"):
            ex.hide(text, wrong, tokenizer=bert.tokenizer)  # type: ignore[arg-type]


def test_a_guess_is_the_model_s_softmax_and_its_loss_torch_s(bert: TransformerModel, gpt2: TransformerModel) -> None:
    corruption = ex.corrupt(lesson.STORY, "mlm", tokenizer=bert.tokenizer, seed=3)
    record = ex.guess(bert, corruption, top=7)
    scores = torch.as_tensor(bert.logits(corruption.source))
    ids = torch.tensor(corruption.original.ids.tolist())
    shares, best = scores.softmax(-1).topk(7)
    np.testing.assert_allclose(record.shares, shares, atol=1e-6)
    assert record.texts[5][0] == bert.tokenizer.text_of(int(best[5, 0]))
    scored_mask = torch.tensor(corruption.scored.tolist())
    assert record.loss == pytest.approx(
        float(functional.cross_entropy(scores[scored_mask], ids[scored_mask], reduction="sum")), rel=1e-4
    )
    with pytest.raises(ex.ExplorerError, match="masked model"):
        ex.guess(gpt2, corruption)
    for name in ("bart-delete", "pegasus"):
        with pytest.raises(ex.ExplorerError, match="no label"):
            ex.guess(bert, ex.corrupt(lesson.STORY, name, tokenizer=bert.tokenizer))
    with pytest.raises(ex.ExplorerError, match="top=0"):
        ex.guess(bert, corruption, top=0)


def test_the_generator_draws_by_the_model_s_probabilities(bert: TransformerModel, gpt2: TransformerModel) -> None:
    corruption = ex.hide(lesson.STORY, ["tired"], tokenizer=bert.tokenizer)
    place, draws = int(corruption.scored.argmax()), 400
    ids = np.repeat(corruption.source.ids[None], draws, axis=0)
    where = np.repeat(corruption.scored[None], draws, axis=0)
    drawn = generator(bert, 1)(ids, where)
    np.testing.assert_array_equal(drawn[~where], ids[~where])
    shares = torch.as_tensor(bert.logits(corruption.source))[place].softmax(-1).numpy()
    for i in np.argsort(-shares)[:4]:
        assert abs((drawn[:, place] == i).mean() - shares[i]) < 4 * math.sqrt(shares[i] / draws)
    assert not np.isin(drawn[where], bert.tokenizer.vocabulary.special).any()
    electra = ex.corrupt(lesson.STORY, "electra", tokenizer=bert.tokenizer, sample=generator(bert))
    assert sum(electra.labels["rtd"]) == int((electra.source.ids != electra.original.ids).sum())
    with pytest.raises(ex.ExplorerError, match="masked model"):
        generator(gpt2)


# the experiment


def test_the_recorded_trainings_hold_in_every_seed() -> None:
    record = results.result("planted")
    ends = {
        line.label: (line.low[-1], line.high[-1]) for line in record.lines if line.low is not None and line.high is not None
    }
    assert ends["80/10/10: corrects a planted word"][0] > ends["always [MASK]: corrects a planted word"][1] + 0.1
    assert ends["never hidden: corrects a planted word"][1] < 0.02
    blanks = [np.mean(ends[f"{name}: fills a blank"]) for name in ("80/10/10", "always [MASK]")]
    assert abs(blanks[0] - blanks[1]) < 0.03
    question = lesson.planted_question(record)
    assert "80/10/10 and always [MASK] tie" in question.why, "the seeds of both overlap"
    assert question.answer == "80/10/10" and set(question.options) == set(planted.SPLITS)
    assert [line.label for line in lesson.part(record, lesson.PLANTED).lines] == list(planted.SPLITS)


def test_planted_words_are_counted_one_by_one(bert: TransformerModel) -> None:
    rows = planted.held_out(bert, 200)
    rows = rows_of(rows.ids[:12], rows.attention_mask[:12], rows.words[:12], rows.sentences[:12])
    corruption = planted.mlm(rows, bert.tokenizer.vocabulary, np.random.default_rng(0), rate=0.03, split=(0.0, 1.0, 0.0))
    right = []
    for source, ids, real in zip(corruption.source.ids, rows.ids, rows.attention_mask, strict=True):
        best = bert.logits(source[real].tolist()).argmax(-1)
        right += [int(best[n]) == ids[n] for n in np.flatnonzero(source != ids)]
    assert right and planted.share_restored(bert, rows, (0.0, 1.0, 0.0)) == pytest.approx(np.mean(right))


def test_the_split_decides_what_a_training_sees(bert: TransformerModel) -> None:
    model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu")
    batches = {name: planted.hiding(model, split, 0, planted.PlantedSize(3)).batch(1) for name, split in planted.SPLITS.items()}
    for batch in batches.values():
        np.testing.assert_array_equal(batch.loss_mask, batches["80/10/10"].loss_mask)
        np.testing.assert_array_equal(batch.source[~batch.loss_mask], batch.labels[~batch.loss_mask])
        near = np.rint(0.15 * (batch.attention_mask.sum(axis=1) - 2))
        np.testing.assert_array_equal(batch.loss_mask.sum(axis=1), near)
    never, always, mixed = (batch.source[batch.loss_mask] for batch in batches.values())
    assert (never == batches["never hidden"].labels[batches["never hidden"].loss_mask]).all()
    assert (always == bert.tokenizer.vocabulary.mask).all()
    assert abs((mixed == bert.tokenizer.vocabulary.mask).mean() - 0.8) < 4 * math.sqrt(0.16 / len(mixed))
    assert set(next(iter(planted.hiding(model, planted.SPLITS["always [MASK]"], 0, planted.PlantedSize(1)))).losses) == {"mlm"}


# pictures


@pytest.mark.parametrize("name", [*STRATEGIES, *PAIRS])
def test_the_tiles_are_the_pieces(name: str, tokenizer: Tokenizer) -> None:
    corruption = corrupted(name, tokenizer, 2)
    figure = VIEWS["corruption"](corruption)
    bars = {bar.name.split(" ", 1)[-1]: bar for bar in figure.data}
    assert len(bars["part of the loss"].y) == 3 * (
        1 if name in PAIRS else corruption.scored.sum() * (1 + (corruption.target is None))
    ), "in ỹ, and in x̃ as well where both have the same positions"
    for kind, count in Counter(done for done in corruption.action if done != "kept").items():
        extra = sum(corruption.labels.get("rtd", ())) if kind == "replaced" else 0  # ELECTRA's labels say it again
        extra += (
            sum(text == "[MASK]" or text.startswith("<extra_id") for text in corruption.target.texts)
            if kind == "masked" and corruption.target
            else 0
        )
        assert len(bars[kind].y) == count + extra
    assert len(bars[LEFT_OUT].y if LEFT_OUT in bars else ()) == len(corruption.deleted)
    places = [(y, b, b + w) for bar in figure.data if bar.name != LOSS for y, b, w in zip(bar.y, bar.base, bar.x, strict=True)]
    for (y, _, end), (line, begin, _) in itertools.pairwise(sorted(places)):
        assert line > y or begin >= end, "no token covers another"


def test_the_overview_says_which_places_are_asked(tokenizer: Tokenizer) -> None:
    corruption = {name: corrupted(name, tokenizer, 1) for name in STRATEGIES}
    count = len(corruption["mlm"].original)
    for name in ("mlm", "whole-word", "spanbert", "electra"):
        np.testing.assert_array_equal(answered(corruption[name]), corruption[name].scored)
    assert answered(corruption["causal"]).sum() == count - 1
    assert all(answered(corruption[name]).all() for name in corruption if name.startswith(("bart", "cloze")))
    for name in ("t5", "pegasus"):
        target = [i for i in corruption[name].target.ids.tolist() if i not in tokenizer.vocabulary.special]  # type: ignore[union-attr]
        assert corruption[name].original.ids[answered(corruption[name])].tolist() == target
    figure = VIEWS["strategies"](tuple(corruption.values()))
    line = next(trace for trace in figure.data if trace.name == LOSS)
    assert len(line.y) == 3 * sum(answered(record).sum() for record in corruption.values())


def test_strategies_are_grouped_and_every_row_opens_its_own(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    corruption = {name: corrupted(name, tokenizer, 1) for name in (*STRATEGIES, "sop")}
    rows, heads = placed(tuple(corruption.values()))
    assert sorted((*rows, *heads)) == list(range(len(corruption) + 4)), "no two in one row"
    assert {corruption.strategy for corruption in rows.values()} == set(corruption)
    shipped = {
        "mlm": "bert",
        "causal": "gpt",
        "spanbert": "spanbert",
        "electra": "electra",
        "bart": "bart",
        "t5": "t5",
        "pegasus": "pegasus",
    }
    for name, model in shipped.items():
        assert group_of(corruption[name]) == PRESETS[model].architecture["family"], name
    assert group_of(corruption["sop"]) == "two texts"
    figure = VIEWS["strategies"](tuple(corruption.values()))
    axis = figure.layout.yaxis
    for y, name in zip(axis.tickvals, axis.ticktext, strict=True):
        assert rows[y].strategy == name if y in rows else name == "" and y in heads
        if not name:
            continue
        drawn = {(y, *box[:2]) for _, box in boxes(corruption[name], y)}
        bars = [bar for bar in figure.data if bar.name != LOSS]
        assert drawn <= {place for bar in bars for place in zip(bar.y, bar.base, bar.x, strict=True)}
    went: list[str] = []
    monkeypatch.setattr(matrix, "choose", went.append)
    monkeypatch.setattr(matrix.st, "session_state", {})
    matrix.opens(rows, {"y": next(y for y, corruption in rows.items() if corruption.strategy == "t5")})
    assert matrix.st.session_state == {"strategy": "t5"} and went == [matrix.PART]


def test_masks_of_attention_are_triangles(tokenizer: Tokenizer) -> None:
    for name in ("causal", "prefix", "mlm"):
        corruption = corrupted(name, tokenizer)
        seen = ~np.isnan(np.asarray(VIEWS["visible"](corruption).data[0].z))
        cut = corruption.labels["prefix"][0] if name == "prefix" else 0
        for q, k in np.ndindex(seen.shape):
            assert seen[q, k] == (name == "mlm" or k <= q or (q < cut and k < cut))


def test_squares_rates_and_surprises_are_the_record_s(bert: TransformerModel, tokenizer: Tokenizer) -> None:
    corruption = ex.corrupt(
        tokenizer.tokens(tokenizer.encode(LONG * 4, special=False).ids[:1000].tolist()), "mlm", tokenizer=tokenizer
    )
    figure = VIEWS["squares"](corruption)
    drawn = {trace.name: len(trace.x) for trace in figure.data}
    assert sum(drawn.values()) == 1000 and drawn["not predicted"] == 850
    assert drawn["masked"] == corruption.action.count("masked") and 90 < drawn["masked"] < 145
    rates = counting.rates(lesson.STORY, tokenizer=tokenizer, draws=50)
    bars = VIEWS["rates"](rates).data[0]
    np.testing.assert_allclose(
        np.asarray(bars.base, np.float64) + np.asarray(bars.x, np.float64), [np.quantile(row, 0.975) for row in rates.realised]
    )
    record = ex.guess(bert, ex.hide(lesson.STORY, ["tired", "milk"], tokenizer=bert.tokenizer))
    scored = next(bar for bar in VIEWS["surprises"](record).data if bar.name == "part of the loss")
    assert (
        np.nansum(np.asarray(scored.y, np.float64)) == pytest.approx(record.loss)
        and np.isfinite(np.asarray(scored.y, np.float64)).sum() == 2
    )
    assert VIEWS["squares"].fits(corrupted("causal", tokenizer)) and VIEWS["squares"].fits(corrupted("electra", tokenizer))
    with pytest.raises(ex.ExplorerError, match="different texts"):
        VIEWS["strategies"]((corruption, corrupted("mlm", tokenizer)))


# questions, page, disk


def test_every_answer_is_what_the_records_hold(bert: TransformerModel, tokenizer: Tokenizer) -> None:
    masked = corrupted("mlm", tokenizer, 5)
    guess = ex.guess(bert, ex.hide(lesson.STORY, ["tired", "milk"], tokenizer=bert.tokenizer))
    lengths = counting.span_lengths(lesson.STORY, "spanbert", tokenizer=tokenizer)
    gaps = counting.gap_sentences(lesson.STORY, tokenizer=tokenizer)
    questions = lesson.exercises(masked, guess, lengths, gaps)
    shares = torch.as_tensor(bert.logits(guess.corruption.source)).log_softmax(-1).numpy()
    each = [-shares[n, guess.corruption.original.ids[n]] for n in np.flatnonzero(guess.corruption.scored)]
    wanted = [round(0.15 * 33), 120, masked.action.count("kept-but-scored"), each[0], sum(each), 0.2 / (1 - 0.8**10), 1]
    for item, number in zip(questions, wanted, strict=True):
        assert item.right(f"{number:.{item.digits}f}"), item.question
    coins = lesson.coin_question(
        Rates(("mlm, coin flips", "mlm"), np.full(2, 0.15), np.array([[0.05, 0.1, 0.25], [0.15] * 3]), 20)
    )
    assert coins.answer == "less than 10 % to more than 20 %"
    even = lesson.coin_question(Rates(("mlm, coin flips", "mlm"), np.full(2, 0.15), np.full((2, 3), 0.15), 20))
    assert even.answer == "always 15 %"
    place = int(guess.corruption.scored.argmax())
    question = lesson.guess_question(guess, place)
    assert question.answer == bert.tokenizer.text_of(int(shares[place].argmax())) and question.answer in question.options
    assert guess.corruption.original.texts[place] in question.options


def page(**query: str) -> AppTest:
    at = opened("corruption")
    for radio in [radio for radio in at.radio if "guess" in radio.key]:
        radio.set_value(radio.options[0])
    for key, value in query.items():
        at.selectbox(key).set_value(value)
    return at.run()


@pytest.mark.usefixtures("unfolded")
def test_a_larger_share_is_harder() -> None:
    means = []
    for share in (5, 80):
        at = page()
        at.select_slider("mlm.share").set_value(share).run()
        assert not at.exception
        titles = [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in pictures(at)]
        titles = [re.sub("</span><br><span[^>]*>", " ", title) for title in titles]  # lines are broken where they are long
        title = next(title for title in titles if title.startswith("The loss of") and "predicted tokens" in title)
        means.append(float(re.findall(r"mean ([\d.]+)", title)[0]))
    assert means[1] > means[0] + 1


@pytest.mark.parametrize(
    "text", ["", "   ", "<script>alert(1)</script>. 😀 你好. $x$ `a`", "word " * 500, *long("Dog", ". . .")]
)
def test_odd_texts_are_met_calmly(text: str) -> None:
    at = opened("corruption")
    at.text_input("story").set_value(text).run()
    assert not at.exception
    if not text.strip() or len(text) > 1000:
        assert at.warning


@pytest.mark.parametrize("name", ["roberta", "deberta"])
def test_another_masked_encoder_can_be_chosen(name: str) -> None:
    at = opened("corruption", masked=name)
    assert not at.exception and not at.warning and at.selectbox("masked").value == name
    question = next(radio for radio in at.radio if (radio.key or "").startswith(f"guess.word.{name}"))
    model = ex.load(name, device="cpu")
    guess = ex.guess(model, ex.hide(lesson.STORY, [lesson.HIDDEN], tokenizer=model.tokenizer))
    place = int(guess.corruption.scored.argmax())
    assert guess.texts[place][0] in question.options, "what this model finds most probable"
    question.set_value(guess.texts[place][0]).run()
    assert f"P = {guess.shares[place, 0]:.0%}" in at.success[0].value


def test_only_models_that_fill_masks_are_offered() -> None:
    offered = parts.fillers()
    assert "electra" not in offered and "gpt2" not in offered and "bart" not in offered
    for name in offered:
        model = ex.load(name, device="cpu")
        assert ex.guess(model, ex.hide("The dog slept.", ["dog"], tokenizer=model.tokenizer)).model == name


def test_the_mean_of_spans_is_asked_of_the_text(tokenizer: Tokenizer) -> None:
    for strategy, draws in (("spanbert", 500), ("t5", 20), ("bart-infill", 500)):
        record = counting.span_lengths(lesson.STORY, strategy, tokenizer=tokenizer, draws=draws)
        item = lesson.spans_question(record)
        law, came = record.nominal @ record.lengths, record.realised @ record.lengths
        ratio = came / law
        wanted = 0 if ratio > 1.1 else 1 if ratio >= 0.9 else 2 if ratio >= 0.5 else 3
        assert item.answer == item.options[wanted] and f"{came:.2f}" in item.why and f"mean of {law:.1f}" in item.question
    assert lesson.spans_question(counting.span_lengths("A dog ran.", "spanbert", tokenizer=tokenizer)).answer == item.options[3]


def test_a_button_draws_once_more() -> None:
    at = opened("corruption", part="one-strategy")
    at = at.button(key="seed.new").click().run()
    assert not at.exception and at.number_input(key="seed").value == 1 and at.query_params["seed"] == "1"
