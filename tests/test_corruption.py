"""Every corruption, by counting over many draws, against the published algorithm, and by putting the text together again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from conftest import sample

import explorer as ex
from explorer.corruption import masking, noises, prediction, sentences, spans
from explorer.corruption.rows import KEPT, MASKED, REPLACED, SCORED, Corrupted, Rows, rows_of
from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.errors import ChoiceError
from explorer.models.transformer import TransformerModel
from explorer.records import Vocabulary

PIECES = Vocabulary(500, mask=4, pad=0, cls=2, sep=3, unknown=1, sentinels=tuple(range(400, 500)))
TEXT = (
    "The animal didn't cross the street because it was too tired. Anna gave the animal some milk. "
    "Then it was not tired any more. It crossed the street and Anna was glad."
)


def batch(count: int, length: int, seed: int = 0, *, padded: int = 2) -> Rows:
    """[CLS] text [SEP] and padding; words of one to three tokens, sentences of about ten."""
    rng = np.random.default_rng(seed)
    ids = np.hstack(
        [np.full((count, 1), 2), rng.integers(5, 400, (count, length)), np.full((count, 1), 3), np.zeros((count, padded))]
    )
    begins = rng.random((count, length)) < 0.6
    begins[:, 0] = True
    words = np.cumsum(begins, axis=1) - 1
    ends = begins & (rng.random((count, length)) < 0.15)
    numbers = np.cumsum(ends, axis=1) - ends[:, :1]

    def wide(values: np.ndarray) -> np.ndarray:
        return np.pad(values, ((0, 0), (1, 1 + padded)), constant_values=-1)

    real = np.broadcast_to(np.arange(length + 2 + padded) < length + 2, ids.shape)
    return rows_of(ids.astype(np.int64), real, wide(words), wide(numbers))


def near(share: float, wanted: float, count: int) -> None:
    """Within four standard errors of a share that was drawn `count` times."""
    assert abs(share - wanted) <= 4 * math.sqrt(max(wanted * (1 - wanted), 1e-4) / count) + 1e-9, (share, wanted, count)


def origins(corrupted: Corrupted, row: int) -> list[list[int]]:
    source, real = corrupted.source, corrupted.source.attention_mask[row]
    order = source.order[row].tolist()
    return [order[start : start + count] for start, count in zip(source.start[row][real], source.count[row][real], strict=True)]


def read(corrupted: Corrupted, row: int) -> list[int]:
    """The tokens of a source without its padding."""
    ids: list[int] = corrupted.source.ids[row][corrupted.source.attention_mask[row]].tolist()
    return ids


# what holds of every strategy


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("seed", sample(20, 3))
def test_kept_tokens_are_the_original_s_and_nothing_is_said_twice(name: str, seed: int) -> None:
    rows = batch(8, 40, seed)
    corrupted = STRATEGIES[name].apply(rows, PIECES, np.random.default_rng(seed))
    padding = ~corrupted.source.attention_mask
    assert (corrupted.source.action[padding] == KEPT).all() and (
        corrupted.target is not None or not corrupted.scored[padding].any()
    )
    for row in range(8):
        origin, ids = origins(corrupted, row), read(corrupted, row)
        named = [place for places in origin for place in places]
        assert len(named) == len(set(named)), "no original place is stood for twice"
        for token, action, places in zip(ids, corrupted.source.action[row], origin, strict=False):
            if action == KEPT:
                assert len(places) == 1 and token == rows.ids[row, places[0]]
        assert ids[0] == 2 and ids[-1] == 3, "special tokens stay at the ends"


@pytest.mark.parametrize("name", ["t5", "bart", "bart-delete", "bart-infill", "pegasus", "cloze-delete", "cloze-insert"])
def test_what_is_rebuilt_is_padded_as_the_vocabulary_says(name: str) -> None:
    whole, real = batch(2, 40, padded=0), np.ones((2, 42), bool)
    real[1, 12:] = False
    ids, words, sentences = (
        np.where(real, part, fill) for part, fill in ((whole.ids, 7), (whole.words, -1), (whole.sentences, -1))
    )
    corrupted = STRATEGIES[name].apply(rows_of(ids, real, words, sentences), replace(PIECES, pad=7), np.random.default_rng(0))
    source = corrupted.source
    assert (~source.attention_mask).any() and set(source.ids[~source.attention_mask].tolist()) == {7}
    if name in ("t5", "pegasus") and corrupted.target is not None and corrupted.target_start is not None:
        assert set(corrupted.target[~corrupted.scored].tolist()) == {7}
        own = np.isin(corrupted.target, [*PIECES.sentinels, PIECES.sep]) | ~corrupted.scored
        assert (corrupted.target_start[own] == -1).all() and (corrupted.target_start[~own] >= 0).all()


def test_two_tokens_that_are_reordered_change_places_and_spans_may_have_a_mean_of_one() -> None:
    ids = np.arange(10, 12)[None].repeat(20, 0)
    rows = rows_of(ids, np.ones_like(ids, bool), np.zeros_like(ids), np.zeros_like(ids))
    assert (noises.reorder(rows, PIECES, np.random.default_rng(0)).source.ids == ids[:, ::-1]).all()
    assert noises.infill(batch(5, 40), PIECES, np.random.default_rng(0), mean=1.0).source.ids.shape[0] == 5


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_seed_decides(name: str) -> None:
    first, two, other = (STRATEGIES[name].apply(batch(4, 40), PIECES, np.random.default_rng(seed)).source for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.ids, two.ids)
    if name not in ("causal", "prefix", "pegasus"):  # a cut is only a label, and PEGASUS draws no lots
        assert not np.array_equal(first.ids, other.ids) or not np.array_equal(first.action, other.action)


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name.startswith(("bart", "cloze"))])
def test_the_answer_to_a_noise_is_the_original(name: str) -> None:
    rows = batch(6, 40)
    corrupted = STRATEGIES[name].apply(rows, PIECES, np.random.default_rng(0))
    np.testing.assert_array_equal(corrupted.target, rows.ids)
    np.testing.assert_array_equal(corrupted.scored, rows.attention_mask)


# masked language modelling


def test_masking_takes_an_exact_share_and_splits_it_80_10_10() -> None:
    rows = batch(500, 40)
    corrupted = masking.mlm(rows, PIECES, np.random.default_rng(0))
    assert (corrupted.scored.sum(axis=1) == 6).all() and not corrupted.scored[~rows.free].any()
    count = int(corrupted.scored.sum())
    ids = corrupted.source.ids
    near(float((ids[corrupted.scored] == 4).mean()), 0.8, count)
    near(float((ids[corrupted.scored] == rows.ids[corrupted.scored]).mean()), 0.1 + 0.1 / 396, count)
    replaced = ids[corrupted.scored & (ids != 4) & (ids != rows.ids)]
    assert not np.isin(replaced, PIECES.special).any()
    np.testing.assert_array_equal(ids[~corrupted.scored], rows.ids[~corrupted.scored])
    places = corrupted.scored[:, 1:41].mean(axis=0)
    assert abs(places - 0.15).max() < 5 * math.sqrt(0.15 * 0.85 / 500), "every place is as likely"


@pytest.mark.parametrize("strategy", [masking.mlm, masking.whole_word, masking.spanbert])
def test_what_was_done_to_each_predicted_token_is_recorded(strategy: Callable[..., Corrupted]) -> None:
    rows = batch(300, 40)
    corrupted = strategy(rows, PIECES, np.random.default_rng(0))
    ids, action, changed = corrupted.source.ids, corrupted.source.action, corrupted.source.ids != rows.ids
    np.testing.assert_array_equal(action == MASKED, ids == 4)
    assert not (changed & ~np.isin(action, (MASKED, REPLACED))).any() and not (changed & (action == SCORED)).any()
    np.testing.assert_array_equal(action != KEPT, corrupted.scored)
    count = int(corrupted.scored.sum())
    assert abs(float((action[corrupted.scored] == REPLACED).mean()) - 0.1) < 0.03 and count > 1000


def test_any_rate_and_any_split() -> None:
    for rate in (0.05, 0.4, 0.8, 1.0):
        corrupted = masking.mlm(batch(50, 40), PIECES, np.random.default_rng(0), rate=rate, split=(1.0, 0.0, 0.0))
        assert (corrupted.scored.sum(axis=1) == round(40 * rate)).all() and (corrupted.source.ids[corrupted.scored] == 4).all()
    assert masking.mlm(batch(9, 1), PIECES, np.random.default_rng(0)).scored.sum() == 9, "at least one"


def test_whole_words_are_hidden_whole() -> None:
    rows = batch(300, 60)
    corrupted = masking.whole_word(rows, PIECES, np.random.default_rng(0))
    for row in range(300):
        for word in range(rows.words[row].max() + 1):
            assert len(set(corrupted.scored[row][rows.words[row] == word].tolist())) == 1
    wanted = round(0.15 * 60)
    counts = corrupted.scored.sum(axis=1)
    assert counts.max() <= wanted and counts.mean() > wanted - 0.5, "words that would exceed the budget are passed over"


def test_a_word_longer_than_the_budget_is_hidden_where_every_word_is() -> None:
    ids = np.arange(10, 16)[None]
    for words in ([0] * 6, [0, 0, 0, 1, 1, 1], [0] * 5 + [-1], [-1] + [0] * 5):
        rows = rows_of(ids, np.ones_like(ids, bool), np.array([words]), np.zeros_like(ids))
        drawn = [masking.whole_word(rows, PIECES, np.random.default_rng(seed), rate=0.3).scored[0] for seed in range(20)]
        hidden = {tuple(np.unique(np.array(words)[scored])) for scored in drawn}
        assert hidden == {(word,) for word in words if word >= 0}, (
            "two tokens may be hidden, and no word has two: one word is, by chance"
        )


def test_spans_of_spanbert_are_whole_words_with_one_decision_each_and_their_lengths_are_geometric() -> None:
    rows, counts = batch(60, 400), Counter[int]()
    for seed in range(20):
        corrupted = masking.spanbert(rows, PIECES, np.random.default_rng(seed), rate=0.1)
        assert (corrupted.scored.sum(axis=1) == 40).all()
        for span, action, words in zip(corrupted.labels["span"], corrupted.source.action, rows.words, strict=True):
            *whole, cut = sorted(set(span[span >= 0].tolist()))
            assert all(len(set(action[span == number].tolist())) == 1 for number in [*whole, cut]), "masked, replaced or kept"
            assert all((span[np.isin(words, words[span == number])] == number).all() for number in whole)
            counts[len(set(words[span == 0].tolist()))] += 1  # the first of a row, which nothing hems in
    for length in range(1, 11):
        near(counts[length] / 1200, 0.2 * 0.8 ** (length - 1) / (1 - 0.8**10), 1200)


def test_no_span_of_spanbert_goes_on_behind_a_separator() -> None:
    rows = batch(30, 60)
    inside = np.array([word // 5 % 2 for word in rows.words.reshape(-1)]).reshape(rows.words.shape)  # words 5 to 9, 15 to 19, …
    ends = (rows.words >= 0) & (inside != np.pad(inside, ((0, 0), (0, 1)))[:, 1:])
    words = np.where(ends, -1, rows.words)  # the last token of each five becomes a separator: no word of the text
    some = rows_of(np.where(ends, PIECES.sep, rows.ids), rows.attention_mask, words, rows.sentences)
    long = 0
    for seed in range(20):
        spans_of = masking.spanbert(some, PIECES, np.random.default_rng(seed), rate=0.3).labels["span"]
        for row in spans_of:
            for span in set(row[row >= 0].tolist()):
                places = np.flatnonzero(row == span)
                assert places[-1] - places[0] + 1 == len(places)
                long += len(places) > 2
    assert long > 500, "long spans are drawn"


def test_the_lengths_of_spans_follow_the_truncated_geometric_law() -> None:
    lengths, likely = masking.lengths_of_spans()
    want = np.array([0.2 * 0.8**n for n in range(10)])
    np.testing.assert_allclose(likely, want / want.sum())
    assert lengths.tolist() == list(range(1, 11)) and likely @ lengths == pytest.approx(3.797, abs=1e-3)


# T5, against the algorithm of its paper, written out for one text


def published(length: int, rate: float, mean: float, rng: np.random.Generator) -> np.ndarray:
    noise = min(max(round(length * rate), 1), length - 1)
    count = max(round(noise / mean), 1)

    def segments(total: int, parts: int) -> list[int]:
        first = np.zeros(total - 1, int)
        first[: parts - 1] = 1
        rng.shuffle(first)
        return np.bincount(np.concatenate([[0], np.cumsum(first)]), minlength=parts).tolist()

    turns = [n for pair in zip(segments(length - noise, count), segments(noise, count), strict=True) for n in pair]
    return np.repeat([False, True] * count, turns)


@pytest.mark.parametrize(("length", "rate", "mean"), [(58, 0.15, 3.0), (120, 0.15, 3.0), (20, 0.15, 3.0), (90, 0.5, 5.0)])
def test_t5_s_noise_is_the_published_one(length: int, rate: float, mean: float) -> None:
    rng = np.random.default_rng(0)
    ours = spans.noise_of(np.ones((4000, length), bool), rate, mean, rng)
    theirs = np.stack([published(length, rate, mean, rng) for _ in range(4000)])
    assert set(ours.sum(axis=1)) == set(theirs.sum(axis=1))
    starts = [(m & ~np.pad(m, ((0, 0), (1, 0)))[:, :-1]).sum(axis=1) for m in (ours, theirs)]
    assert set(starts[0]) == set(starts[1])
    gap = np.abs(ours.mean(axis=0) - theirs.mean(axis=0)).max()
    assert gap < 5 * math.sqrt(0.5 / 4000), "every place is hidden as often"
    pairs = [(m[:, :-1] & m[:, 1:]).mean(axis=0) for m in (ours, theirs)]
    assert np.abs(pairs[0] - pairs[1]).max() < 5 * math.sqrt(0.5 / 4000), "and its neighbour with it"
    assert not ours[:, 0].any() and ours[:, -1].all(), "it begins with text and ends with noise"


def test_t5_s_shares_have_bounds_and_a_text_of_one_token_stays() -> None:
    rows, rng = batch(3, 40), np.random.default_rng(0)
    for wrong in ({"rate": 0.0}, {"rate": 1.0}, {"rate": 1.5}, {"mean": 0.5}):
        with pytest.raises(ChoiceError, match="must lie between 0 and 1"):
            spans.t5(rows, PIECES, rng, **wrong)
    assert spans.t5(rows, PIECES, rng, rate=0.9, mean=1.0).scored.any()
    assert not spans.noise_of(np.array([[True, False], [False, False]]), 0.5, 3.0, rng).any()
    assert spans.t5_law(5).tolist() == [0, 1] and spans.t5_law(1).tolist() == spans.t5_law(2, 0.9).tolist() == [0, 1]


@pytest.mark.parametrize("roll", [False, True])
def test_t5_s_source_and_target_together_are_the_text(roll: bool) -> None:
    rows = batch(50, 40)
    corrupted = spans.t5(rows, PIECES, np.random.default_rng(0), roll=roll)
    assert corrupted.target is not None
    for row in range(50):
        target = corrupted.target[row][corrupted.scored[row]].tolist()
        assert target[-1] == PIECES.sep, "the end"
        names = [i for i in target if i in PIECES.sentinels]
        assert names == list(PIECES.sentinels[: len(names)]), "sentinels in order"
        parts, current = {}, -1
        for piece in target[:-1]:
            if piece in PIECES.sentinels:
                current = piece
            parts.setdefault(current, []).extend([] if piece == current else [piece])
        text = [x for token in read(corrupted, row) for x in parts.get(token, [token])]
        assert text == rows.ids[row][rows.attention_mask[row]].tolist()
    hidden = np.concatenate([corrupted.target_start[row][corrupted.target_start[row] > 0] for row in range(50)])  # type: ignore[index]
    assert (1 in hidden) == roll or not roll, "only a rolled mask may hide the first token"


# BART


def test_infilling_hides_its_share_in_poisson_spans() -> None:
    rows = batch(400, 200)
    corrupted = noises.infill(rows, PIECES, np.random.default_rng(0))
    masks = corrupted.source.count[(corrupted.source.ids == 4) & corrupted.source.attention_mask]
    hidden = (corrupted.source.action == MASKED) & corrupted.source.attention_mask
    gone = np.where(hidden, corrupted.source.count, 0).sum(axis=1)
    assert (gone == 60).all(), "exactly 30%"
    empty = float((masks == 0).mean())
    assert 0.03 < empty < 0.09, "about e^-3 of the spans have length zero and put a mask in"
    assert 2.3 < masks.mean() < 3.2, "a Poisson mean of 3, a little less because the last span is cut to fit"
    text: list[int] = []
    for places, token in zip(origins(corrupted, 0), read(corrupted, 0), strict=True):
        text += rows.ids[0, places].tolist() if token == 4 else [token]
    assert text == rows.ids[0][rows.attention_mask[0]].tolist()


def test_deleting_leaves_no_trace_and_rotating_and_permuting_lose_nothing() -> None:
    rows = batch(80, 40)
    gone, turned, mixed = (
        noise(rows, PIECES, np.random.default_rng(0)).source for noise in (noises.delete, noises.rotate, noises.permute)
    )
    assert (gone.attention_mask.sum(axis=1) == 42 - 6).all() and not (gone.ids == 4).any()
    for row in range(80):
        assert any(np.array_equal(np.roll(rows.ids[row, 1:41], -n), turned.ids[row, 1:41]) for n in range(40))
        blocks = [rows.ids[row][rows.sentences[row] == n].tolist() for n in range(rows.sentences[row].max() + 1)]
        numbers = mixed.sentences[row][mixed.attention_mask[row] & (mixed.words[row] >= 0)]
        order = list(dict.fromkeys(numbers.tolist()))
        assert sorted(order) == list(range(len(blocks)))
        assert [x for n in order for x in blocks[n]] == mixed.ids[row][1:41].tolist(), "sentences stay whole"


# PEGASUS, ELECTRA, pairs


def test_the_gap_sentences_are_those_with_the_best_rouge() -> None:
    rows = batch(30, 80, 3)
    ids = rows.ids % 20 + 5  # few tokens, so that sentences share some
    rows = rows_of(ids, rows.attention_mask, rows.words, rows.sentences)
    corrupted = sentences.pegasus(rows, PIECES, np.random.default_rng(0))
    for row in range(30):
        count = rows.sentences[row].max() + 1
        parts = [rows.ids[row][rows.free[row] & (rows.sentences[row] == n)].tolist() for n in range(count)]
        scores = []
        for n, part in enumerate(parts):
            rest = Counter(x for m, other in enumerate(parts) if m != n for x in other)
            shared = sum((Counter(part) & rest).values())
            precision, recall = shared / len(part), shared / max(1, rest.total())
            scores.append(0.0 if not shared else 2 * precision * recall / (precision + recall))
        wanted = min(max(1, round(0.3 * len(parts))), len(parts) - 1)
        best = sorted(sorted(range(len(parts)), key=lambda n: (-scores[n], n))[:wanted])
        assert corrupted.target is not None
        assert corrupted.target[row][corrupted.scored[row]].tolist() == [*(x for n in best for x in parts[n]), PIECES.last]
        assert read(corrupted, row).count(4) == wanted


def test_electra_s_labels_say_what_differs() -> None:
    rows = batch(40, 40)
    given: list[np.ndarray] = []

    def generator(masked: np.ndarray, where: np.ndarray) -> np.ndarray:
        given.append(masked)
        return np.where(np.arange(masked.shape[1]) % 2, rows.ids, 77)  # right at every second place

    corrupted = prediction.electra(rows, PIECES, np.random.default_rng(0), sample=generator)
    np.testing.assert_array_equal(corrupted.labels["rtd"].astype(bool), corrupted.source.ids != rows.ids)
    assert (given[0][corrupted.source.action != KEPT] == 4).all(), "the generator sees masks, not the answers"
    assert 0 < corrupted.labels["rtd"].sum() < (corrupted.source.action != KEPT).sum(), "a lucky draw counts as original"
    np.testing.assert_array_equal(corrupted.scored, rows.free)


# one text, as a record


@pytest.mark.parametrize("name", [name for name in (*STRATEGIES, *PAIRS) if name != "t5"])  # shipped models have no sentinels
@pytest.mark.parametrize("seed", sample(10, 2))
def test_the_record_of_one_text(name: str, seed: int, bert: TransformerModel) -> None:
    corpus = ["A dog ran. It was red. The sun was up. All slept."] if name == "nsp" else ()
    corrupted = ex.corrupt(TEXT, name, tokenizer=bert.tokenizer, seed=seed, corpus=corpus)
    assert corrupted == ex.corrupt(TEXT, name, tokenizer=bert.tokenizer, seed=seed, corpus=corpus)
    places = [place for places in corrupted.origin for place in places]
    assert sorted({*places, *corrupted.deleted}) == list(range(len(corrupted.original)))
    assert len(places) + len(corrupted.deleted) == len({*places, *corrupted.deleted}), "each place once"
    for token, places, done in zip(corrupted.source.texts, corrupted.origin, corrupted.action, strict=True):
        if done == "kept":
            assert [token] == [corrupted.original.texts[place] for place in places]
    assert len(corrupted.scored) == len(corrupted.source if corrupted.target is None else corrupted.target)
    if not math.isnan(corrupted.nominal):
        assert abs(corrupted.realised - corrupted.nominal) < (0.25 if name == "pegasus" else 0.05) or name == "bart"


def test_natural_mistakes_are_met_with_a_word(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for message, options in (
        ("Did you mean 'mlm'", {"strategy": "mlmm"}),
        ("rate=2", {"rate": 2}),
        ("rate='much'", {"rate": "much"}),
        ("no option of mlm", {"colour": 1}),
        ("sum to 1", {"split": (0.5, 0.1, 0.1)}),
        ("empty", {"text": ""}),
        ("corpus=", {"strategy": "nsp"}),
        ("at least two", {"strategy": "sop", "text": "One sentence."}),
        ("mean=0", {"strategy": "bart-infill", "mean": 0}),
        *(
            ("mask|sentinels|CLS", {"strategy": name, "tokenizer": gpt2.tokenizer})
            for name in ("mlm", "bart-mask", "t5", "sop")
        ),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.corrupt(**{"text": TEXT, "strategy": "mlm", "tokenizer": bert.tokenizer, **options})  # type: ignore[arg-type]


def test_every_piece_that_is_to_change_its_place_does(bert: TransformerModel) -> None:
    for seed in range(50):
        corrupted = ex.corrupt(TEXT, "cloze-reorder", tokenizer=bert.tokenizer, seed=seed)
        moved = [place for place, origin in enumerate(corrupted.origin) if origin != (place,)]
        free = len(corrupted.original) - sum(corrupted.original.special)
        assert len(moved) == round(0.15 * free) and [corrupted.action[place] for place in moved] == ["moved"] * len(moved)
