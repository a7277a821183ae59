"""Searches against exhaustive enumeration and the papers' formulas in plain NumPy; caches, traces and bad input."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from conftest import SAMPLED, sample
from scipy.special import log_softmax
from test_decoding import LIVE, OURS, TOKENIZER, VOCAB, live, own
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2Model, RepetitionPenaltyLogitsProcessor

import explorer as ex
from explorer.decoding import STRATEGIES, Settings, State
from explorer.decoding.comparison import contest, distribution, total_of, trap, trapped, written
from explorer.decoding.decode import tokens_of
from explorer.decoding.generation_trace import watch
from explorer.microworld import stories
from explorer.models import ngram
from explorer.models.transformer import TransformerModel


class Table:
    """A model that is a table: the next token depends on the last two. Its states are random vectors, one for each token."""

    def __init__(self, number: int, size: int, end: int | None = 0) -> None:
        rng = np.random.default_rng(number)
        scores = rng.normal(size=(size, size, size)) * 1.5
        self.logp = np.log(np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)).astype(np.float32)
        self.vectors = rng.normal(size=(size, 5))
        self.size, self.ends, self.longest = size, () if end is None else (end,), None

    def start(self, prompt: Sequence[int]) -> Any:
        state = State()
        state.texts = [list(prompt[:-1])]  # type: ignore[attr-defined]
        return state

    def next(self, state: Any, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, Any]:
        texts = [[*state.texts[parent], int(piece)] for parent, piece in zip(parents, ids, strict=True)]
        following = self.start([])
        following.texts, following.hidden = texts, self.vectors[np.array(texts)]
        return np.stack([self.row(text) for text in texts]), following

    def row(self, text: Sequence[int]) -> np.ndarray:
        return self.logp[text[-2] if len(text) > 1 else 0, text[-1]]

    def text_of(self, piece: int) -> str:
        return f"<{piece}>"

    def text(self, ids: Sequence[int]) -> str:
        return " ".join(map(str, ids))

    def total(self, prompt: Sequence[int], text: Sequence[int]) -> float:
        whole = [*prompt, *text]
        return float(sum(np.float64(self.row(whole[: len(prompt) + n])[piece]) for n, piece in enumerate(text)))


def every_text(size: int, length: int, end: int | None) -> Iterator[tuple[int, ...]]:
    """All texts: those that end on the way, and those of full length."""
    for count in range(1, length + 1):
        for text in itertools.product(range(size), repeat=count):
            if end not in text[:-1] and (count == length or text[-1] == end):
                yield text


@functools.cache
def gpt() -> TransformerModel:
    return ex.load("gpt", device="cpu")


@pytest.mark.parametrize("number", sample(60, 12))
def test_exhaustive_search_and_enough_beams_find_the_best_text(number: int) -> None:
    rng = np.random.default_rng(number)
    size, length = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    end, power = (0 if rng.random() < 0.7 else None), float(rng.choice([0.0, 0.7, 1.0]))
    table, prompt = Table(number, size, end), [int(rng.integers(size)), int(rng.integers(size))]
    ranked = sorted(every_text(size, length, end), key=lambda text: -table.total(prompt, text) / len(text) ** power)
    settings = Settings(max_tokens=length, length_penalty=power, beams=5, candidates=0)
    *_, all_of_them = STRATEGIES["exhaustive"].apply(table, prompt, settings)
    best = [tuple(single.ids.tolist()) for single in all_of_them.finished]
    assert best == ranked[: len(best)] and len(best) == min(5, len(ranked))
    assert all_of_them.total == pytest.approx(table.total(prompt, ranked[0]), abs=1e-5)
    enough = Settings(max_tokens=length, length_penalty=power, beams=size**length, early_stopping="never", candidates=0)
    *_, wide = STRATEGIES["beam"].apply(table, prompt, enough)
    assert [tuple(single.ids.tolist()) for single in wide.finished][: len(best)] == best
    *_, single = STRATEGIES["beam"].apply(table, prompt, Settings(max_tokens=length, beams=1, length_penalty=power))
    *_, greedy = STRATEGIES["greedy"].apply(table, prompt, Settings(max_tokens=length))
    assert single.ids.tolist() == greedy.ids.tolist(), "beam search with one beam is greedy"


def diverse(table: Table, prompt: list[int], length: int, width: int, costs: list[float]) -> list[tuple[float, list[int]]]:
    """Vijayakumar et al. (2016), without end tokens: a group maximises Θ − its cost · how often earlier groups chose the token."""
    beams: list[list[tuple[float, list[int]]]] = [[(0.0, [])] for _ in costs]
    for _ in range(length):
        chosen = np.zeros(table.size)
        for g, cost in enumerate(costs):
            rows = [(total, text, table.row(prompt + text)) for total, text in beams[g]]
            grown = [(total + float(row[v]), [*text, v]) for total, text, row in rows for v in range(table.size)]
            beams[g] = sorted(grown, key=lambda beam: cost * chosen[beam[1][-1]] - beam[0])[:width]
            for _total, text in beams[g]:
                chosen[text[-1]] += 1
    return sorted(itertools.chain(*beams), key=lambda beam: beam[1])


@pytest.mark.parametrize("number", sample(60, 12))
def test_diverse_beam_search_is_the_paper_s(number: int) -> None:
    rng = np.random.default_rng(number)
    groups, width, cost = int(rng.integers(1, 4)), int(rng.integers(1, 4)), float(rng.choice([0.0, 0.4, 3.0]))
    table, length = Table(number, int(rng.integers(7, 20)), None), int(rng.integers(1, 6))
    settings = Settings(max_tokens=length, beams=groups * width, groups=groups, diversity=cost, length_penalty=0.0)
    *_, final = STRATEGIES["diverse-beam"].apply(table, [1, 2], settings)
    totals, texts = zip(*diverse(table, [1, 2], length, width, [cost] * groups), strict=True)
    written_texts = sorted(final.finished, key=lambda hypothesis: hypothesis.ids.tolist())
    assert [hypothesis.ids.tolist() for hypothesis in written_texts] == list(texts)
    np.testing.assert_allclose([hypothesis.total for hypothesis in written_texts], totals, atol=1e-4)


def followed(table: Table, strategy: str, settings: Settings, processor: Any = None) -> list[int]:
    """Follow the beams of a search by its records alone, compare each number with the table's, and give how many beams each step had."""
    sums, texts, counts = {0: 0.0}, {0: [1, 2]}, []
    for step in STRATEGIES[strategy].apply(table, [1, 2], settings):
        rows = [table.row(text) for text in texts.values()]
        np.testing.assert_allclose(step.entropy, [-(np.exp(row) * row).sum() for row in rows], atol=1e-5)
        if processor is None:
            scores = np.stack(rows)
        else:
            alone = [
                processor(torch.tensor([text]), torch.tensor(row[None])) for text, row in zip(texts.values(), rows, strict=True)
            ]
            scores = torch.cat(alone).numpy()
        for c in step.candidates:
            assert c.logp == pytest.approx(rows[c.parent][c.id], abs=1e-5)
            assert c.total == pytest.approx(sums[c.parent] + scores[c.parent][c.id], abs=1e-4)
            assert c.beam == -1 or (c.beam >= 0 and c.fate == "kept"), "−1 says that a text is in no beam"
        kept = [c for c in step.candidates if c.beam >= 0]
        counts.append(len(texts))
        sums = {c.beam: c.total for c in sorted(kept, key=lambda c: c.beam)}
        texts = {c.beam: [*texts[c.parent], c.id] for c in sorted(kept, key=lambda c: c.beam)}
    return counts


@pytest.mark.parametrize("number", range(4))
def test_a_step_of_beams_records_the_scores_that_it_compared(number: int) -> None:
    for penalty in (1.0, 1.7):
        processor = None if penalty == 1 else RepetitionPenaltyLogitsProcessor(penalty)
        settings = Settings(max_tokens=6, beams=3, repetition_penalty=penalty)
        assert followed(Table(number, 9), "beam", settings, processor)[1] == 3


def test_a_group_that_is_closed_leaves_the_rows_of_the_others_where_they_are() -> None:
    settings = Settings(max_tokens=9, beams=6, groups=3, diversity=2.0, early_stopping=True)
    counts = [followed(Table(number, 7), "diverse-beam", settings) for number in range(12)]
    assert any(0 < later < 6 for many in counts for later in many[2:]), "in one of them a group ended before the others"


def test_where_no_token_is_allowed_a_search_ends_with_nothing() -> None:
    *_, final = STRATEGIES["beam"].apply(Table(0, 5, None), [1, 2], Settings(beams=2, among=(3,), no_repeat=1, max_tokens=4))
    assert (final.stopped, final.total, final.ids.tolist()) == ("nothing left", 0.0, []) and not final.finished


def test_a_trigram_is_written_at_most_once_where_this_is_asked() -> None:
    asked = Settings(max_tokens=40, **STRATEGIES["beam"].shown["beam 5, no trigram twice"])
    texts = [list(STRATEGIES["beam"].apply(Table(number, 4, None), [1, 2], asked))[-1].ids.tolist() for number in range(6)]
    for text in texts:
        trigrams = list(zip([1, 2, *text], [2, *text], text, strict=False))
        assert len(set(trigrams)) == len(trigrams)


def contrast(table: Table, prompt: list[int], length: int, k: int, alpha: float) -> list[int]:
    """Su et al. (2022): among the k likeliest v the largest (1 − α) p(v) − α max_j cos(h_v, h_j)."""
    text = list(prompt)
    for _ in range(length):
        p = np.exp(table.row(text).astype(np.float64))
        best, value = -1, -np.inf
        for v in np.argsort(-p)[:k]:
            h = table.vectors[v]
            alike = max(h @ x / (np.linalg.norm(h) * np.linalg.norm(x)) for x in table.vectors[text])
            if (1 - alpha) * p[v] - alpha * alike > value:
                best, value = int(v), (1 - alpha) * p[v] - alpha * alike
        text.append(best)
    return text[len(prompt) :]


@pytest.mark.parametrize("number", sample(60, 12))
def test_contrastive_search_is_the_paper_s(number: int) -> None:
    rng = np.random.default_rng(number)
    table, k, alpha = Table(number, 20, None), int(rng.integers(2, 8)), float(rng.uniform(0, 1))
    *_, final = STRATEGIES["contrastive"].apply(table, [1, 2, 3], Settings(max_tokens=7, top_k=k, alpha=alpha))
    assert final.ids.tolist() == contrast(table, [1, 2, 3], 7, k, alpha)
    *_, plain = STRATEGIES["contrastive"].apply(table, [1, 2, 3], Settings(max_tokens=7, alpha=0.0))
    *_, greedy = STRATEGIES["greedy"].apply(table, [1, 2, 3], Settings(max_tokens=7))
    assert plain.ids.tolist() == greedy.ids.tolist(), "with α = 0 it is greedy"


def test_contrastive_search_compares_the_states_of_the_library() -> None:
    model, twin = own("gpt2", 1)
    *_, final = ex.decode(model, [5, 9, 11, 7], "contrastive", max_tokens=6, top_k=4, alpha=0.5)
    text = [5, 9, 11, 7]
    for _ in range(6):
        with torch.no_grad():
            p = torch.softmax(twin(torch.tensor([text])).logits[0, -1], -1)
            tried = p.topk(4).indices.tolist()
            hidden = twin(torch.tensor([[*text, v] for v in tried]), output_hidden_states=True).hidden_states[-1]
        unit = torch.nn.functional.normalize(hidden, dim=-1)
        alike = (unit[:, -1:] @ unit[:, :-1].transpose(1, 2)).amax(-1)[:, 0]
        text.append(tried[int((0.5 * p[tried] - 0.5 * alike).argmax())])
    assert final.ids.tolist() == text[4:]
    *_, lived = ex.decode((twin, TOKENIZER), [5, 9, 11, 7], "contrastive", max_tokens=6, top_k=4, alpha=0.5)
    assert lived.ids.tolist() == text[4:]


@SAMPLED
@pytest.mark.parametrize(
    ("name", "strategy"), [*((name, "beam") for name in OURS), ("gpt", "sample"), ("bart", "diverse-beam")]
)
def test_a_cache_changes_nothing(name: str, strategy: str) -> None:
    model, _ = own(name, 2)
    cached, other = (list(ex.decode(model, [7, 9, 30, 8], strategy, max_tokens=5, cache=cache)) for cache in (True, False))
    assert [step.ids.tolist() for step in cached] == [step.ids.tolist() for step in other]
    for kept, again in zip(cached, other, strict=True):
        np.testing.assert_allclose(kept.logp, again.logp, atol=2e-4)
        assert kept.computed + kept.reused == again.computed and again.reused == 0
    assert all(step.computed == 1 for step in cached[1:])


@SAMPLED
@pytest.mark.parametrize("name", [*OURS, *LIVE])
def test_the_growing_matrix_is_that_of_the_whole_text(name: str) -> None:
    model, source = (live(name, 0), TOKENIZER) if name in LIVE else own(name, 0)[0], [7, 9, 30, 8]
    generation = watch(model, source, "beam", beams=2, max_tokens=6, early_stopping=True)
    trace, paired = generation.trace, generation.trace.target is not None
    tokens = (trace.target if paired else trace.source).ids.tolist()
    assert generation.rows[:2] == ((0, 1) if paired else (0, 4))[: len(generation.rows)]
    assert len(generation.rows) == len(generation.steps[-1].ids)
    if name in LIVE:
        module = live(name, 0)
        module.set_attn_implementation("eager")
        reads = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([tokens])}
        with torch.no_grad():
            out = module(**(reads if paired else {"input_ids": torch.tensor([tokens])}), output_attentions=True)
        named = ("encoder_attentions", "decoder_attentions", "cross_attentions") if paired else ("attentions",)
        whole = [layer[0].numpy() for part in named for layer in out[part]]
        order = [a for stream in ("encoder", "decoder", "cross") for a in trace.attention if a.stream == stream]
    else:
        once = ex.trace(model, source, target=[*tokens[1:], 0]) if paired else ex.trace(model, tokens)
        order, whole = list(trace.attention), [once.at(a.stream, a.layer).weights for a in trace.attention]
        assert trace.residual < 1e-5
    for grown, wanted in zip(order, whole, strict=True):
        np.testing.assert_allclose(grown.weights, wanted, atol=2e-5)


def test_the_records_hold_the_model_s_numbers() -> None:
    text = gpt().tokens("Anna had a white animal.").ids.tolist()
    steps = list(ex.decode(gpt(), text, "sample", temperature=0.8, top_p=0.9, max_tokens=5, seed=3))
    for step in steps:
        logp = log_softmax(gpt().logits([*text, *step.ids.tolist()[:-1]])[-1].astype(np.float64))
        assert step.entropy[0] == pytest.approx(float(-(np.exp(logp) * logp).sum()), abs=1e-4)
        tokens = [candidate.id for candidate in step.candidates]
        np.testing.assert_allclose([candidate.logp for candidate in step.candidates], logp[tokens], atol=1e-4)
        assert set(tokens) >= set(np.argsort(-logp)[:10].tolist())
        assert step.kept_mass[0] + step.cut_mass[0] == pytest.approx(1) and step.kept_mass[0] >= 0.9 - 1e-6
    assert steps[-1].total == pytest.approx(total_of(gpt(), text, steps[-1].ids), abs=1e-3)
    assert steps[-1].text == gpt().tokenizer.decode(steps[-1].ids)


@pytest.mark.parametrize("strategy", ["beam", "diverse-beam"])
def test_the_tree_hangs_together(strategy: str) -> None:
    steps = list(ex.decode(gpt(), "Anna had a white animal.", strategy, beams=4, max_tokens=8))
    sums, beams = {0: 0.0}, 1
    for step in steps:
        kept = [c for c in step.candidates if c.beam >= 0]
        assert {c.parent for c in step.candidates} <= set(range(beams)) and len(step.entropy) == beams
        for c in step.candidates:
            assert c.total == pytest.approx(sums[c.parent] + c.logp, abs=1e-3)
        if strategy == "beam" and kept:
            assert min(c.total for c in kept) >= max((c.total for c in step.candidates if c.fate == "beaten"), default=-1e9)
        sums, beams = {c.beam: c.total for c in kept}, len(kept)
    for text in steps[-1].finished:
        assert text.total == pytest.approx(total_of(gpt(), "Anna had a white animal.", text.ids), abs=1e-3)
        assert text.total == pytest.approx(float(text.logp.sum()), abs=1e-3)


@pytest.mark.parametrize("early", [False, "never"])
def test_a_search_ends_at_the_first_step_after_which_no_open_beam_can_win(early: Any) -> None:
    settings = Settings(beams=3, max_tokens=40, early_stopping=early)
    steps = list(ex.decode(gpt(), "A dog ran.", "beam", beams=3, max_tokens=40, early_stopping=early))
    for number, step in enumerate(steps, 1):
        best = max(c.total for c in step.candidates if c.fate == "kept")
        longest = settings.divisor(40 if early == "never" else number)
        hopeless = len(step.finished) == 3 and best / longest <= min(text.score for text in step.finished)
        assert hopeless == (number == len(steps)), number
    assert steps[-1].stopped == "no open beam can win" and len(steps) < 40


def test_forced_tokens_are_where_they_were_forced() -> None:
    cat = gpt().tokenizer.encode("cat", special=False).ids.tolist()
    for strategy in ("greedy", "sample", "beam", "contrastive"):
        steps = list(ex.decode(gpt(), "Anna had a", strategy, force={0: "cat", 3: 7}, max_tokens=6))
        assert steps[-1].ids[: len(cat)].tolist() == cat and steps[-1].ids[3] == 7
        assert {c.fate for c in steps[3].candidates if c.id != 7} == {"forced-out"}
    only = list(ex.decode(gpt(), "Anna had a", "beam", among=["cat", "dog", "."], max_tokens=4))
    assert {gpt().tokenizer.text_of(int(i)) for i in only[-1].ids} <= {"·cat", "·dog", "."}
    final = list(ex.decode(gpt(), "Anna had a", stop=".", max_tokens=40))[-1]
    assert final.stopped == "stop" and final.text.endswith(".") and final.text.count(".") == 1


def test_a_word_means_the_token_that_stands_inside_a_sentence(bert: TransformerModel) -> None:
    inside = gpt().tokenizer.encode("It was tired", special=False)
    assert tokens_of(gpt().tokenizer, "tired") == tokens_of(gpt().tokenizer, "·tired") == [int(inside.ids[-1])]
    assert tokens_of(bert.tokenizer, "dog") == [int(bert.tokenizer.encode("the dog", special=False).ids[-1])]


def test_where_a_decoder_looks_is_recorded_unless_nobody_asks() -> None:
    model, _ = own("t5", 0)
    for asked in (True, False):
        step = next(iter(ex.decode(model, [5, 6, 7], "greedy", cross=asked)))
        assert (step.cross is not None) is asked


def test_the_context_ends_and_says_so() -> None:
    model, _ = own("gpt2", 0)
    *_, final = ex.decode(model, [9] * 40, max_tokens=30, force=dict.fromkeys(range(30), 9))
    assert final.stopped == "context" and len(final.ids) == 8
    *_, final = ex.decode(model, [9] * 40, max_tokens=8, force=dict.fromkeys(range(30), 9))
    assert final.stopped == "length"


def test_bad_input_gets_a_clear_answer(bert: TransformerModel) -> None:
    model, _ = own("gpt2", 0)
    headless = (GPT2Model(GPT2Config(vocab_size=9, n_embd=8, n_layer=1, n_head=1)), TOKENIZER)
    for message, given in (
        ("beams=0 must be a whole number of at least 1", {"strategy": "beam", "beams": 0}),
        *(("above 0", {"strategy": "sample", "temperature": value}) for value in (0, -1.0, float("nan"))),
        ("top_p=0 must be a share above 0", {"strategy": "sample", "top_p": 0}),
        ("not above 1", {"strategy": "sample", "top_p": 1.5}),
        ("top_k=0", {"strategy": "sample", "top_k": 0}),
        ("no room to continue", {"text": [9] * 48}),
        ("reads at most 48", {"text": [9] * 49}),
        ("empty", {"text": ""}),
        ("no token", {"text": []}),
        (f"no token {VOCAB}", {"text": [VOCAB]}),
        (f"no token {VOCAB + 1}", {"force": {0: VOCAB + 1}}),
        ("given by its id or its text", {"force": {0: ""}}),
        ("must be a mapping", {"force": "cat"}),
        *(("names steps by whole numbers from 0", {"force": {step: 9}}) for step in (True, -1, 1.5, "0")),
        ("Did you mean 'beam'", {"strategy": "bean"}),
        ("Did you mean 'temperature'", {"temprature": 1}),
        ("2 groups do not divide 5 beams", {"strategy": "diverse-beam", "beams": 5, "groups": 2}),
        ("exhaustive search goes up to", {"strategy": "exhaustive"}),
        ("does not fill blanks", {"strategy": "fill"}),
        ("max_tokens=0", {"max_tokens": 0}),
        ("early_stopping='soon'", {"strategy": "beam", "early_stopping": "soon"}),
        ("encoder: it reads a whole text at once", {"model": bert}),
        ("cannot generate", {"model": headless, "text": [1]}),
        ("this is str", {"model": "gtp"}),
        ("no blank", {"model": bert, "text": "The dog.", "strategy": "fill"}),
        ("order of filling", {"model": bert, "text": "The ___.", "strategy": "fill", "order": "right"}),
        *(
            (
                f"rounds={n} must be",
                {"model": bert, "text": "The ___.", "strategy": "fill", "order": "mask-predict", "rounds": n},
            )
            for n in (0, 1.5, True)
        ),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            list(ex.decode(**{"model": model, "text": [5, 6], "strategy": "greedy", **given}))


@functools.cache
def masked(number: int) -> BertForMaskedLM:
    torch.manual_seed(number)
    config = BertConfig(vocab_size=120, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40)
    module = BertForMaskedLM(config).eval()
    with torch.no_grad():
        for weight in module.parameters():
            weight.mul_(6)
    return module


@pytest.mark.parametrize("number", sample(30, 6))
def test_blanks_are_filled_as_the_formulas_say(number: int, bert: TransformerModel) -> None:
    rng, module = np.random.default_rng(number), masked(number % 2)
    v, never = bert.tokenizer.vocabulary, list(bert.tokenizer.vocabulary.special)
    ids = rng.integers(5, 120, size=14)
    places = np.sort(rng.choice(14, size=int(rng.integers(1, 7)), replace=False))
    ids[places] = v.mask

    def logp(now: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            scores = module(torch.tensor(now[None])).logits[0].double()
        scores[:, never] = -torch.inf
        return torch.log_softmax(scores, -1).numpy()

    for order in ("left", "confident"):
        now, shares = ids.copy(), list[np.ndarray]()
        while (now == v.mask).any():
            left = np.flatnonzero(now == v.mask)
            logps = logp(now)
            at = left[0] if order == "left" else left[logps[left].max(1).argmax()]
            now[at] = logps[at].argmax()
            shares.append(np.exp(logps))
        steps = list(ex.decode((module, bert.tokenizer), ids.tolist(), "fill", order=order))
        assert steps[-1].tokens.ids.tolist() == now.tolist() and not steps[-1].blank.any()
        for step, wanted in zip(steps, shares, strict=True):
            np.testing.assert_allclose(step.shares[:, 0], wanted[step.places].max(1), rtol=1e-4)
    now, sure, turns, mask = ids.copy(), np.zeros(14), 3, places
    for turn in range(turns):
        logps = logp(now)
        now[mask], sure[mask] = logps[mask].argmax(1), logps[mask].max(1)
        mask = places[np.argsort(sure[places])[: int(len(places) * (turns - turn - 1) / turns)]]
        if turn + 1 < turns:
            now[mask] = v.mask
    *_, final = ex.decode((module, bert.tokenizer), ids.tolist(), "fill", order="mask-predict", rounds=3)
    assert final.tokens.ids.tolist() == now.tolist()


def test_beginnings_where_greedy_walks_into_a_trap_are_found_and_the_deepest_is_shown() -> None:
    texts = [" ".join(story) for story in stories(6, 5, "validation")]
    record = contest(gpt(), texts, tokens=12, beams=(5,))
    assert record.totals.shape == (3, len(texts)) and record.labels == ("as it was written", "greedy", "beam 5")
    greedy = written(gpt(), gpt().tokens(texts[0]).ids[:8].tolist(), "greedy", "greedy", max_tokens=12)
    assert record.totals[1, 0] == pytest.approx(greedy.total, abs=1e-4)
    assert set(trapped(record)) == set(np.flatnonzero(record.totals[2] > record.totals[1]).tolist())
    first, second = trap(gpt(), record, tokens=12)
    assert (first.label, second.label) == ("greedy", "beam 5") and second.total > first.total and first.ids[0] != -1
    np.testing.assert_allclose([first.total, second.total], record.totals[1:, trapped(record)[0]], atol=1e-4)
    assert trap(gpt(), replace(record, totals=np.zeros_like(record.totals))) == (), "no trap, nothing to show"


def test_the_distribution_is_the_model_s() -> None:
    text = gpt().tokenizer.encode("Anna had a white", special=False).ids.tolist()
    record = distribution(gpt(), text)
    shares = torch.softmax(torch.tensor(gpt().logits(text)[-1]).double(), -1).numpy()
    np.testing.assert_allclose(record.shares, np.sort(shares)[::-1], atol=1e-6)
    np.testing.assert_allclose(record.shares, shares[record.ids], atol=1e-6)
    begun = distribution(gpt(), [gpt().tokenizer.vocabulary.begin, *text])
    np.testing.assert_array_equal(distribution(gpt(), "Anna had a white").scores, begun.scores)


def test_an_n_gram_model_writes_too() -> None:
    model = ngram.train([[0, 5, 6, 7, 5, 6, 8, 0], [0, 5, 6, 7, 9, 0]], TOKENIZER, order=2, begin=0)
    *_, final = ex.decode(model, [0, 5], max_tokens=3)
    assert final.ids[0] == 6


class Noticed(Settings):
    """Settings that remember which of them were read."""

    read: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> object:
        if name in OWN_SETTINGS:
            Noticed.read.add(name)
        return super().__getattribute__(name)


OWN_SETTINGS = {name for entry in STRATEGIES.values() for name in entry.reads}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_reads_the_settings_that_its_entry_names(name: str) -> None:
    settings = Noticed(max_tokens=6, top_k=2, beams=2, among=(0, 1, 2), extra=STRATEGIES[name].options)
    Noticed.read.clear()
    list(STRATEGIES[name].apply(Table(5, 6), [1, 2], settings))
    assert Noticed.read == set(STRATEGIES[name].reads)


def test_the_source_that_the_best_beam_looks_at_is_that_of_the_best_beam() -> None:
    """At each step, beside the trace of the text that is best then; the best text is not always the first row of the step."""
    model, text = ex.load("bart"), "Anna gave the dog some milk because it was thirsty. The dog was happy."
    compared = 0
    for step in ex.decode(model, text, "beam", beams=4, max_tokens=10):
        if len(step.ids) == step.step + 1 and step.cross is not None:
            read = ex.trace(model, text, target=step.ids.tolist())
            looked = np.stack([layer.weights[:, -1] for layer in read.attention if layer.stream == "cross"])
            assert np.abs(step.cross - looked).max() < 1e-5
            compared += 1
    assert compared >= 8


def test_a_drawn_text_adds_up_the_model_s_own_probabilities_whatever_it_is_drawn_from() -> None:
    """Temperature decides what is drawn; totals are log P by the model itself, beside log-softmax of its logits."""
    model, before = ex.load("gpt2"), 0.0
    ids = model.tokens("The dog").ids.tolist()
    ids = [model.tokenizer.vocabulary.begin, *ids] if ids[0] != model.tokenizer.vocabulary.begin else ids
    for step in ex.decode(model, ids, "sample", temperature=0.5, seed=1, max_tokens=5):
        expected = log_softmax(model.logits(ids)[-1].astype(float))
        assert np.abs(step.logp - expected[step.pieces]).max() < 1e-4
        assert np.abs(step.totals - (before + step.logp)).max() < 1e-4
        assert (np.diff(step.logp) <= 0).all(), "the most probable candidate first"
        ids, before = [*ids, int(step.ids[-1])], step.total


def test_a_token_that_would_repeat_is_named_as_such() -> None:
    steps = list(ex.decode("gpt2", "The dog was", no_repeat=1, max_tokens=12))
    assert len(set(steps[-1].ids.tolist())) == len(steps[-1].ids)
    assert "cut:no_repeat" in {fate for step in steps for fate in step.fates}
