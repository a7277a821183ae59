"""What the corruption lab counts, hides, guesses and asks, against formulas, exhaustive search and torch."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SAMPLED, SENTENCE, long, sample
from opening import guessing_first, opened
from torch.nn import functional

import explorer as ex
from explorer.analysis.predictions import generator
from explorer.app.lessons.corruption import matrix, parts
from explorer.app.lessons.corruption import questions as lesson
from explorer.app.prose import prose
from explorer.corruption import counting
from explorer.corruption.choosing import written_words
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
from explorer.views.grid import columns_of, corruption_grid
from explorer.views.strategies import answered, boxes, group_of, placed
from explorer.views.tiles import LEFT_OUT, LOSS, target_tiles
from studies import planted

STORY = " ".join(" ".join(story) for story in stories(8, 3))
FEWER = {} if ALL else {"stories": 200}


@pytest.fixture(scope="module")
def tokenizer(bert: TransformerModel) -> Tokenizer:
    return with_sentinels(bert.tokenizer)


def corrupted(name: str, tokenizer: Tokenizer, seed: int = 0, text: str = lesson.STORY) -> Corruption:
    return ex.corrupt(text, name, tokenizer=tokenizer, seed=seed, corpus=["Tom had a ball. It fell."] if name == "nsp" else ())


@LONG
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
@pytest.mark.parametrize("name", PAIRS)
def test_the_segments_of_a_pair_are_the_tokenizer_s(tokenizer: Tokenizer, name: str, seed: int) -> None:
    corruption = corrupted(name, tokenizer, seed)
    ids, sep = corruption.source.ids.tolist(), corruption.source.segments.index(1) - 1
    whole = tokenizer.encode(tokenizer.decode(ids[1:sep]), tokenizer.decode(ids[sep + 1 : -1]))
    assert whole.segments == corruption.source.segments and whole.ids.tolist() == ids
    assert (corruption.labels == {"sop": (1,)}) == ("moved" in corruption.action) and corruption.action[0] == "kept"


@pytest.mark.parametrize("seed", sample(60, 10))
def test_the_spans_of_spanbert_stay_apart_and_are_counted_as_drawn(tokenizer: Tokenizer, seed: int) -> None:
    corruption = corrupted("spanbert", tokenizer, seed, STORY)
    spans = [range(start, start + count) for start, count in corruption.spans]
    assert [place for span in spans for place in span] == np.flatnonzero(corruption.scored).tolist()
    assert all(len({corruption.action[place] for place in span}) == 1 for span in spans), "one decision for each span"
    sizes = Counter(len({corruption.original.words[place] for place in span}) for span in spans)
    counted = counting.span_lengths(STORY, "spanbert", tokenizer=tokenizer, draws=1, seed=seed)
    drawn = {int(n): round(share * counted.spans) for n, share in zip(counted.lengths, counted.realised, strict=True)}
    assert {n: count for n, count in drawn.items() if count} == sizes


@pytest.mark.parametrize("name", [*STRATEGIES, *PAIRS])
@pytest.mark.parametrize("seed", sample(10, 2))
def test_the_realised_rate_is_what_can_be_counted(name: str, seed: int, tokenizer: Tokenizer) -> None:
    corruption = corrupted(name, tokenizer, seed)
    text = {n for n, word in enumerate(corruption.original.words) if word >= 0}
    done = Counter(corruption.action)
    places = zip(corruption.origin, corruption.action, strict=True)
    as_it_was = {place for origins, action in places if action in ("kept", "moved") for place in origins}
    gone = len(text - as_it_was) or done["moved"] or done["inserted"]
    assert corruption.realised == pytest.approx(gone / len(text))
    if not math.isnan(corruption.nominal) and name != "pegasus":
        assert abs(corruption.realised - corruption.nominal) <= 0.5 / len(text) + 1e-9, "moving beside hiding is not counted"


@pytest.mark.parametrize("length", [12, 33, 58, 90])
def test_the_law_of_t5_s_lengths_is_what_all_cuts_give(length: int) -> None:
    hidden = round(length * 0.15)
    spans = max(1, round(hidden / 3))
    ways = [c for c in itertools.product(range(1, hidden + 1), repeat=spans) if sum(c) == hidden]
    counts, law = Counter(size for way in ways for size in way), t5_law(length)
    assert law.sum() == pytest.approx(1)
    np.testing.assert_allclose(law, [counts[size] / (len(ways) * spans) for size in range(len(law))], atol=1e-12)


@pytest.mark.parametrize("name", counting.laws())
def test_realised_lengths_come_near_their_law_in_a_long_text(name: str, tokenizer: Tokenizer) -> None:
    record = counting.span_lengths(STORY, name, tokenizer=tokenizer, draws=300)
    law, came = record.means
    assert record.nominal.sum() == pytest.approx(1, abs=1e-5) and record.realised.sum() == pytest.approx(1)
    assert law == pytest.approx({"spanbert": 3.797, "bart-infill": 3.0}.get(name, came), abs=0.05)
    if name == "t5":
        assert np.abs(record.nominal - record.realised).max() < 4 * math.sqrt(0.25 / record.spans)
    short = counting.span_lengths(SENTENCE, name, tokenizer=tokenizer, draws=300).means
    assert name == "t5" or short[1] < came < law, "cut spans are shorter, and more so in a short text"
    assert (record.lengths[0] == 0) == (name == "bart-infill"), "only BART's spans may be empty"


def test_sentences_are_scored_as_rouge_is_defined(tokenizer: Tokenizer) -> None:
    record, tokens = counting.gap_sentences(STORY, tokenizer=tokenizer, rate=0.2), tokenizer.encode(STORY)
    sentences = np.array(tokens.sentences)
    parts = [tokens.ids[sentences == n].tolist() for n in range(sentences.max() + 1)]
    for n, (part, score) in enumerate(zip(parts, record.scores, strict=True)):
        rest = Counter(i for m, other in enumerate(parts) if m != n for i in other)
        shared = sum((Counter(part) & rest).values())
        precision, recall = shared / len(part), shared / rest.total()
        assert score == pytest.approx(2 * precision * recall / (precision + recall) if shared else 0)
    best = sorted(range(len(parts)), key=lambda n: (-record.scores[n], n))[: round(0.2 * len(parts))]
    assert np.flatnonzero(record.chosen).tolist() == sorted(best)
    assert list(record.sentences) == [tokenizer.decode(part) for part in parts]


def test_sentinels_are_added_to_a_copy(bert: TransformerModel, tokenizer: Tokenizer) -> None:
    assert bert.tokenizer.vocabulary.sentinels == () and len(tokenizer.vocabulary.sentinels) == 100
    assert tokenizer.encode(lesson.STORY).ids.tolist() == bert.tokenizer.encode(lesson.STORY).ids.tolist()
    corruption = ex.corrupt(STORY, "t5", tokenizer=tokenizer, roll=True)
    marks = [text for text in corruption.source.texts if text.startswith("<extra_id")]
    assert corruption.target is not None and marks == [f"<extra_id_{n}>" for n in range(len(marks))] and len(marks) > 3
    hides: dict[str, list[str]] = {}
    for text in corruption.target.texts[:-1]:
        hides.setdefault(text, []) if text in marks else hides[list(hides)[-1]].append(text)
    assert [t for text in corruption.source.texts for t in hides.get(text, [text])] == list(corruption.original.texts)
    for count in (0, 2**31):
        with pytest.raises(ex.ExplorerError, match="between 1 and 10,000"):
            with_sentinels(tokenizer, count)


def test_chosen_words_are_hidden_whole(bert: TransformerModel) -> None:
    text = "The breadbasket was tired. It was tired."
    corruption = ex.hide(text, ["Tired", 1], tokenizer=bert.tokenizer)
    words, tired = np.array(corruption.original.words), np.array(corruption.original.texts) == "tired"
    np.testing.assert_array_equal(corruption.scored, np.isin(words, [1, *words[tired]]))
    assert (corruption.source.ids[corruption.scored] == bert.tokenizer.vocabulary.mask).all() and corruption.scored.sum() > 3
    for wrong in (["zebra"], [], "tired", [99], [-1], [True], [1.5]):
        with pytest.raises(ex.ExplorerError, match="word"):
            ex.hide(text, wrong, tokenizer=bert.tokenizer)  # type: ignore[arg-type]


def test_a_guess_is_the_model_s_softmax_and_its_loss_torch_s(bert: TransformerModel, gpt2: TransformerModel) -> None:
    corruption = ex.corrupt(lesson.STORY, "mlm", tokenizer=bert.tokenizer, seed=3)
    record, scores = ex.guess(bert, corruption, top=7), torch.as_tensor(bert.logits(corruption.source)).double()
    shares, best = scores.softmax(-1).topk(7)
    np.testing.assert_allclose(record.shares, shares, atol=1e-6)
    assert record.texts[5][0] == bert.tokenizer.text_of(int(best[5, 0]))
    labels = torch.tensor(np.where(corruption.scored, corruption.original.ids, -100).tolist())
    assert record.loss == pytest.approx(float(functional.cross_entropy(scores, labels, reduction="sum")), rel=1e-4)
    gone = [
        (bert, ex.corrupt(lesson.STORY, name, tokenizer=bert.tokenizer), 5, "no label") for name in ("bart-delete", "pegasus")
    ]
    for model, given, top, match in ((gpt2, corruption, 5, "masked model"), (bert, corruption, 0, "top=0"), *gone):
        with pytest.raises(ex.ExplorerError, match=match):
            ex.guess(model, given, top=top)


@LONG
def test_the_generator_draws_by_the_model_s_probabilities(bert: TransformerModel, gpt2: TransformerModel) -> None:
    corruption = ex.hide(lesson.STORY, ["tired"], tokenizer=bert.tokenizer)
    place, draws = int(corruption.scored.argmax()), 400 if ALL else 200
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


def test_the_recorded_trainings_hold_in_every_seed() -> None:
    record = results.result("planted")
    ends = {line.label: (line.low[-1], line.high[-1]) for line in record.lines if line.low is not None}  # type: ignore[index]
    assert ends["80/10/10: corrects a planted word"][0] > ends["always [MASK]: corrects a planted word"][1] + 0.1
    assert ends["never hidden: corrects a planted word"][1] < 0.02
    blanks = [np.mean(ends[f"{name}: fills a blank"]) for name in ("80/10/10", "always [MASK]")]
    assert abs(blanks[0] - blanks[1]) < 0.03
    question = lesson.planted_question(record)
    assert "80/10/10 and always [MASK] tie" in question.why, "the seeds of both overlap"
    assert question.answer == "80/10/10" and set(question.options) == set(planted.SPLITS)
    assert [line.label for line in lesson.part(record, lesson.PLANTED).lines] == list(planted.SPLITS)


def test_planted_words_are_counted_one_by_one(bert: TransformerModel) -> None:
    rows = planted.whole(planted.prepared(list(planted.stories(200, 2)), bert.tokenizer), bert)
    rows = rows_of(rows.ids[:12], rows.attention_mask[:12], rows.words[:12], rows.sentences[:12])
    corruption = planted.mlm(rows, bert.tokenizer.vocabulary, np.random.default_rng(0), rate=0.03, split=(0.0, 1.0, 0.0))
    right = []
    for source, ids, real in zip(corruption.source.ids, rows.ids, rows.attention_mask, strict=True):
        best = bert.logits(source[real].tolist()).argmax(-1)
        right += [int(best[n]) == ids[n] for n in np.flatnonzero(source != ids)]
    assert right and planted.share_restored(bert, rows, (0.0, 1.0, 0.0)) == pytest.approx(np.mean(right))


def test_the_split_decides_what_a_training_sees(bert: TransformerModel) -> None:
    model, mask = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu"), bert.tokenizer.vocabulary.mask
    batches = {
        name: planted.hiding(model, split, 0, planted.SIZE.but(steps=3, **FEWER)).batch(1)
        for name, split in planted.SPLITS.items()
    }
    for batch in batches.values():
        np.testing.assert_array_equal(batch.loss_mask, batches["80/10/10"].loss_mask)
        np.testing.assert_array_equal(batch.source[~batch.loss_mask], batch.labels[~batch.loss_mask])
        near = np.rint(0.15 * (batch.attention_mask.sum(axis=1) - 2))
        np.testing.assert_array_equal(batch.loss_mask.sum(axis=1), near)
    never, always, mixed = (batch.source[batch.loss_mask] for batch in batches.values())
    assert (never == batches["never hidden"].labels[batches["never hidden"].loss_mask]).all() and (always == mask).all()
    assert abs((mixed == mask).mean() - 0.8) < 4 * math.sqrt(0.16 / len(mixed))
    assert set(
        next(iter(planted.hiding(model, planted.SPLITS["always [MASK]"], 0, planted.SIZE.but(steps=1, **FEWER)))).losses
    ) == {"mlm"}


@SAMPLED
@pytest.mark.parametrize("name", [*STRATEGIES, *PAIRS])
def test_the_tiles_are_the_pieces(name: str, tokenizer: Tokenizer) -> None:
    corruption = corrupted(name, tokenizer, 2)
    figure, target = VIEWS["corruption"](corruption), corruption.target
    bars = {bar.name.split(" ", 1)[-1]: len(bar.y) for bar in figure.data}
    lines = 1 if name in PAIRS else corruption.scored.sum() * (1 if target else 2)
    assert bars["part of the loss"] == 3 * lines, "in ỹ, and in x̃ as well where both have the same positions"
    marks = sum(text == "[MASK]" or text.startswith("<extra_id") for text in target.texts) if target else 0
    again = {"replaced": sum(corruption.labels.get("rtd", ())), "masked": marks}  # ELECTRA's labels say it again
    for kind, count in Counter(done for done in corruption.action if done != "kept").items():
        assert bars[kind] == count + again.get(kind, 0), kind
    assert bars.get(LEFT_OUT, 0) == len(corruption.deleted)
    places = [(y, b, b + w) for bar in figure.data if bar.name != LOSS for y, b, w in zip(bar.y, bar.base, bar.x, strict=True)]
    for (y, _, end), (line, begin, _) in itertools.pairwise(sorted(places)):
        assert line > y or begin >= end, "no token covers another"


@pytest.mark.parametrize("name", [*STRATEGIES, *PAIRS])
def test_each_token_has_its_place_on_the_grid_below_what_it_replaces(name: str, tokenizer: Tokenizer) -> None:
    corruption = corrupted(name, tokenizer, 2)
    columns, told = columns_of(corruption), corruption_grid(corruption, "light")
    text, source, target = ([n for column in columns for n in column[row]] for row in range(3))
    assert text == [*range(len(corruption.original))] and source == [*range(len(corruption.source))]
    assert sorted(target) == [*range(len(target_tiles(corruption)))]
    if all(len(origin) < 2 or origin == (*range(origin[0], origin[-1] + 1),) for origin in corruption.origin):
        flat = [place for origin in corruption.origin for place in origin]
        below = {n: column[0] for column in columns for n in column[1]}
        assert flat != sorted(flat) or all({*origin} <= {*below[n]} for n, origin in enumerate(corruption.origin))
    scored = [cell for column in told["columns"] for cell in column[2] if cell["scored"]]
    assert len(scored) == (1 if name in PAIRS else corruption.scored.sum()) and len(told["frames"]) == 3


def test_the_overview_says_which_places_are_asked(tokenizer: Tokenizer) -> None:
    corruption = {name: corrupted(name, tokenizer, 1) for name in STRATEGIES}
    places = {name: answered(record) for name, record in corruption.items()}
    for name in ("mlm", "whole-word", "spanbert", "electra"):
        np.testing.assert_array_equal(places[name], corruption[name].scored)
    assert places["causal"].sum() == len(corruption["mlm"].original) - 1
    assert all(places[name].all() for name in corruption if name.startswith(("bart", "cloze")))
    for name in ("t5", "pegasus"):
        target = [i for i in corruption[name].target.ids.tolist() if i not in tokenizer.vocabulary.special]  # type: ignore[union-attr]
        assert corruption[name].original.ids[places[name]].tolist() == target
    line = next(trace for trace in VIEWS["strategies"](tuple(corruption.values())).data if trace.name == LOSS)
    assert len(line.y) == 3 * sum(map(sum, places.values()))


def test_strategies_are_grouped_and_every_row_opens_its_own(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    corruption = {name: corrupted(name, tokenizer, 1) for name in (*STRATEGIES, "sop")}
    rows, heads = placed(tuple(corruption.values()))
    assert sorted((*rows, *heads)) == list(range(len(corruption) + 4)), "no two in one row"
    assert {corruption.strategy for corruption in rows.values()} == set(corruption)
    shipped = {name: name for name in ["spanbert", "electra", "bart", "t5", "pegasus"]} | {"mlm": "bert", "causal": "gpt"}
    families = {name: PRESETS[model].architecture["family"] for name, model in shipped.items()} | {"sop": "two texts"}
    assert {name: group_of(corruption[name]) for name in families} == families
    figure = VIEWS["strategies"](tuple(corruption.values()))
    bars = [bar for bar in figure.data if bar.name != LOSS]
    places = {place for bar in bars for place in zip(bar.y, bar.base, bar.x, strict=True)}
    for y, name in zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True):
        assert name == (rows[y].strategy if y in rows else "") and (y in rows or y in heads)
        assert not name or {(y, *box[:2]) for _, box in boxes(corruption[name], y)} <= places
    went: list[str] = []
    monkeypatch.setattr(matrix, "choose", went.append)
    monkeypatch.setattr(matrix.st, "session_state", {})
    matrix.opens(rows, {"y": next(y for y, corruption in rows.items() if corruption.strategy == "t5")})
    assert matrix.st.session_state == {"strategy": "t5"} and went == [matrix.PART]


def test_masks_of_attention_are_triangles(tokenizer: Tokenizer) -> None:
    for name in ("causal", "prefix", "mlm"):
        corruption = corrupted(name, tokenizer)
        seen = ~np.isnan(np.asarray(VIEWS["visible"](corruption).data[0].z))
        cut = {"causal": 0, "prefix": corruption.labels.get("prefix", (0,))[0], "mlm": len(seen)}[name]
        wanted = np.tril(np.ones_like(seen))
        wanted[:cut, :cut] = True
        np.testing.assert_array_equal(seen, wanted)


def test_squares_rates_and_surprises_are_the_record_s(bert: TransformerModel, tokenizer: Tokenizer) -> None:
    text = tokenizer.tokens(tokenizer.encode(STORY * 4, special=False).ids[:1000].tolist())
    corruption = ex.corrupt(text, "mlm", tokenizer=tokenizer)
    drawn = {trace.name: len(trace.x) for trace in VIEWS["squares"](corruption).data}
    assert sum(drawn.values()) == 1000 and drawn["not predicted"] == 850
    assert drawn["masked"] == corruption.action.count("masked") and 90 < drawn["masked"] < 145
    rates = counting.rates(lesson.STORY, tokenizer=tokenizer, draws=50)
    bars = VIEWS["rates"](rates).data[0]
    ends = np.asarray(bars.base, np.float64) + np.asarray(bars.x, np.float64)
    np.testing.assert_allclose(ends, [np.quantile(row, 0.975) for row in rates.realised])
    record = ex.guess(bert, ex.hide(lesson.STORY, ["tired", "milk"], tokenizer=bert.tokenizer))
    figure = VIEWS["surprises"](record)
    bar = next(bar for bar in figure.data if bar.name == "part of the loss")
    scored = np.asarray(bar.y, np.float64)
    top = figure.layout.yaxis.range[1]
    assert np.nanmax(scored) < top <= max(1.25, 1.25 * np.nanmax(scored)), "as high as the bars that count"
    assert [note.x for note in figure.layout.annotations] == np.flatnonzero(record.surprise > top).tolist() != []
    assert np.nansum(scored) == pytest.approx(record.loss) and np.isfinite(scored).sum() == 2
    assert VIEWS["squares"].fits(corrupted("causal", tokenizer)) and VIEWS["squares"].fits(corrupted("electra", tokenizer))
    with pytest.raises(ex.ExplorerError, match="different texts"):
        VIEWS["strategies"]((corruption, corrupted("mlm", tokenizer)))


def test_every_answer_is_what_the_records_hold(bert: TransformerModel, tokenizer: Tokenizer) -> None:
    masked = corrupted("mlm", tokenizer, 5)
    guess = ex.guess(bert, ex.hide(lesson.STORY, ["tired", "milk"], tokenizer=bert.tokenizer))
    lengths = counting.span_lengths(lesson.STORY, "spanbert", tokenizer=tokenizer)
    gaps = counting.gap_sentences(lesson.STORY, tokenizer=tokenizer)
    questions = lesson.exercises(masked, guess, lengths, gaps)
    shares = torch.as_tensor(bert.logits(guess.corruption.source)).log_softmax(-1).numpy()
    each = [-shares[n, guess.corruption.original.ids[n]] for n in np.flatnonzero(guess.corruption.scored)]
    wanted = [round(0.15 * 33), 120, masked.action.count("kept-but-scored"), each[0], sum(each), 0.2 / (1 - 0.8**10)]
    for item, number in zip(questions, [*wanted, max(gaps.scores)], strict=True):
        assert item.right(f"{number:.{item.digits}f}"), item.question
    for realised, answer in (([0.05, 0.1, 0.25], "less than 10% to more than 20%"), ([0.15] * 3, "always 15%")):
        rates = Rates(("mlm, coin flips", "mlm"), np.full(2, 0.15), np.array([realised, [0.15] * 3]), 20)
        assert lesson.coin_question(rates).answer == answer
    place = int(guess.corruption.scored.argmax())
    question = lesson.guess_question(guess, place)
    assert question.answer == bert.tokenizer.text_of(int(shares[place].argmax()))
    assert {question.answer, guess.corruption.original.texts[place]} <= set(question.options)


@pytest.mark.usefixtures("unfolded")
def test_a_larger_share_is_harder() -> None:
    means, at = [], opened("corruption", part="one-strategy")
    for share in (5, 80):
        at.select_slider("mlm.share").set_value(share).run()
        assert not at.exception
        facts = " ".join(one.proto.body for one in at.get("html"))
        means.append(float(re.findall(r"mean (\d+\.\d+) over the predicted tokens", facts)[0]))
    assert means[1] > means[0] + 1


def test_odd_texts_are_met_calmly_and_a_button_draws_once_more() -> None:
    at = opened("corruption", part="one-strategy")
    for text in ("", "   ", "<script>alert(1)</script>. 😀 你好. $x$ `a`", "word " * 500, "Dog", ". . ."):
        at.text_input("story").set_value(text).run()
        assert not at.exception and (at.warning or 0 < len(text.strip()) < 1000), text
    at = at.button(key="seed.new").click().run()
    assert not at.exception and at.number_input(key="seed").value == parts.opening_seed() + 1


@pytest.mark.parametrize("name", ["roberta", *long("deberta")])
def test_another_masked_encoder_can_be_chosen(name: str) -> None:
    at = opened("corruption", part="hide-a-word", masked=name)
    assert not at.exception and not at.warning and at.selectbox("masked").value == name
    at = guessing_first(at)
    question = next(radio for radio in at.radio if (radio.key or "").startswith(f"guess.word.{name}"))
    model = ex.load(name, device="cpu")
    guess = ex.guess(model, ex.hide(lesson.STORY, [lesson.HIDDEN], tokenizer=model.tokenizer))
    place = int(guess.corruption.scored.argmax())
    question.set_value(guess.texts[place][0]).run()  # what this model finds most probable
    assert f"gives it {guess.shares[place, 0]:.0%}" in at.success[0].value


def test_only_models_that_fill_masks_are_offered() -> None:
    assert not {"electra", "gpt2", "bart"} & set(parts.fillers())
    for name in parts.fillers():
        model = ex.load(name, device="cpu")
        assert ex.guess(model, ex.hide("The dog slept.", ["dog"], tokenizer=model.tokenizer)).model == name


def test_the_mean_of_spans_is_asked_of_the_text(tokenizer: Tokenizer) -> None:
    for strategy, draws in (("spanbert", 500), ("t5", 20), ("bart-infill", 500)):
        record = counting.span_lengths(lesson.STORY, strategy, tokenizer=tokenizer, draws=draws)
        item = lesson.spans_question(record)
        law, came = record.nominal @ record.lengths, record.realised @ record.lengths
        wanted = sum(came / law < share for share in (0.5, 0.9)) + (came / law <= 1.1)
        assert item.answer == item.options[wanted] and f"{came:.2f}" in item.why and f"mean of {law:.1f}" in item.question
    assert lesson.spans_question(counting.span_lengths("A dog ran.", "spanbert", tokenizer=tokenizer)).answer == item.options[3]


def test_the_small_world_fills_the_blanks_of_its_own_texts_only(bert: TransformerModel) -> None:
    """As the corruption lab says: one *dog* yes, all three not, and nothing of the lectures' three kinds."""
    texts = list(lesson.PRESETS.values())
    blanks = ("night", "34", "Hollywood", "Washington", "nightmare")
    for text, word in zip(texts, blanks, strict=False):
        guess = ex.guess(bert, ex.hide(text, [word], tokenizer=bert.tokenizer))
        assert guess.truth[guess.corruption.scored].min() < 0.01, word
    dogs = [n for n, word in enumerate(bert.tokenizer.encode(texts[-1]).texts) if word == "dog"]
    for dog in dogs:
        guess = ex.guess(bert, ex.hide(texts[-1], [dog - 1], tokenizer=bert.tokenizer))
        assert guess.truth[guess.corruption.scored].min() > 0.8
    guess = ex.guess(bert, ex.hide(texts[-1], ["dog"], tokenizer=bert.tokenizer))
    assert len(dogs) == 3 and guess.truth[guess.corruption.scored].max() < 0.2


def test_of_the_sentence_that_people_type_the_page_names_the_words_that_no_text_of_this_world_has(
    bert: TransformerModel,
) -> None:
    text = lesson.PRESETS["Typed to BERT (L4)"]
    read = set(re.findall(r"\w+", " ".join(ex.microworld.texts(400, 1, version="2.0")).lower()))
    named = parts.never_read("bert", text)
    assert "washington" not in read and "*Washington*" in named
    assert all(word.lower() in read for word in re.findall(r"\w+", text) if f"*{word}*" not in named)


def test_the_page_says_so_where_bert_is_wrong(bert: TransformerModel) -> None:
    for word, right in (("tired", False), ("crossed", True)):
        guess = ex.guess(bert, ex.hide(lesson.STORY, [word], tokenizer=bert.tokenizer))
        place = int(guess.corruption.scored.argmax())
        question = lesson.guess_question(guess, place)
        assert (guess.texts[place][0] == word) is (question.answer == word) is right
        assert (prose("corruption")("another token") in question.why) is not right
    blanks = zip((lesson.STORY, *lesson.PRESETS.values()), (lesson.HIDDEN, *lesson.BLANKED), strict=True)
    for text, blank in blanks:
        words = list(written_words(bert.tokens(text), bert.tokenizer))
        assert words[parts.first_hidden(words)].lower() == blank, "hidden first: the blank of the lecture"


def test_words_of_the_lectures_texts_are_cut_and_those_of_our_stories_almost_never(bert: TransformerModel) -> None:
    """So no reservation about neighbouring tokens of one word is made."""
    lectures = [lesson.PRESETS[name] for name in ("Computable", "World knowledge", "Memorised")]
    for texts, low, high in ((lectures, 0.2, 0.5), (ex.microworld.texts(50, 1, "validation", version="2.0"), 0, 0.01)):
        counts = [Counter(word for word in bert.tokenizer.encode(text).words if word >= 0) for text in texts]
        assert low <= sum(n > 1 for words in counts for n in words.values()) / sum(map(len, counts)) < high


def test_half_of_the_pairs_follow_each_other_as_the_lab_and_the_tour_say(bert: TransformerModel) -> None:
    others = ex.microworld.texts(20, 3, "validation")
    pairs = [ex.corrupt(lesson.STORY, "nsp", tokenizer=bert.tokenizer, corpus=others, seed=n) for n in range(80)]
    follows = sum(pair.labels["nsp"][0] == 0 for pair in pairs)
    assert 25 <= follows <= 55


def test_a_word_that_is_there_twice_is_hidden_where_it_was_chosen(bert: TransformerModel) -> None:
    words = list(written_words(bert.tokens(lesson.STORY), bert.tokenizer))
    again = [n for n, word in enumerate(words) if words.count(word) > 1]
    named = parts.told_apart(words)
    assert (
        len(again) > 3
        and len(set(named)) == len(words)
        and all(name.startswith(word) for name, word in zip(named, words, strict=True))
    )
    at = opened("corruption", part="hide-a-word")
    for place in again[:2]:
        pills = next(group for group in at.button_group if group.key == "hidden")
        assert not pills.set_value([place]).run().exception and at.session_state["hidden"] == [place]


def test_the_picture_is_of_the_word_that_was_hidden_last(bert: TransformerModel) -> None:
    tokens, at = bert.tokens(lesson.STORY), opened("corruption", part="hide-a-word")
    first = parts.first_hidden(list(written_words(tokens, bert.tokenizer)))
    for chosen in ([first, first - 2], [first, first - 2, first - 4], [first, first - 4]):
        pills = next(group for group in at.button_group if group.key == "hidden")
        assert not pills.set_value(chosen).run().exception
        place = tokens.words.index(chosen[-1])
        assert at.session_state["guess.place"] == f"{tokens.texts[place]} (position {place})"
        asked = next(button for button in at.button if (button.key or "").startswith("wait.guess.word."))
        assert asked.key.endswith(f".{place}"), "and so is the question"
