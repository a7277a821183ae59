"""What tiny models learn from the microworld in minutes, one phenomenon at a time, beside chance and an n-gram model.

A 64 x 2 masked model and a 128 x 2 causal model are trained side by side, one core each, with a plain loop. Nothing is asserted:
a phenomenon within two standard errors of chance is marked, and then the world is changed, not the number.

Steps count more than seconds, so the title says how many were taken. The n-gram column says which phenomena need no context:
agreement and word senses in this world are mostly local.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import explorer as ex
from explorer.analysis.evaluation.generating import translated
from explorer.microworld.derived.blanks import Blank, blanks
from explorer.microworld.derived.following import following
from explorer.microworld.giveaway import NAME, classify
from explorer.microworld.grammar.pairing import pairs
from explorer.microworld.labels import labelled_scripts
from explorer.microworld.telling import scripted_stories
from explorer.models.factory import configure
from explorer.nn.transformer import Transformer, initialise
from explorer.text.examples import Translation
from explorer.training.schedules import lr_share

PAD, MASK, CLS, SEP, UNKNOWN, SPECIALS = 0, 1, 2, 3, 4, 5
WORD = re.compile(r"\w+(?:[-']\w+)*|[^\w\s]")
LENGTH, BATCH, PER_PHENOMENON = 126, 16, 400
Row = tuple[str, float, float, float, int]  # what, accuracy, chance, n-gram, items


def words(sentences: Sequence[str]) -> list[str]:
    return WORD.findall(" ".join(sentences).lower())


class Words:
    """Whole words to numbers."""

    def __init__(self, texts: Sequence[list[str]]) -> None:
        counts = Counter(word for text in texts for word in text)
        self.ids = {word: SPECIALS + n for n, word in enumerate(w for w, count in counts.most_common() if count > 2)}
        self.size = SPECIALS + len(self.ids)

    def of(self, text: Sequence[str]) -> list[int]:
        return [self.ids.get(word.lower(), UNKNOWN) for word in text]


class Grams:
    """Words by the three before them: counts with stupid backoff (Brants et al. 2007), both sides of a blank scored."""

    def __init__(self, texts: Sequence[list[str]]) -> None:
        self.counts = [Counter(tuple(t[i : i + n]) for t in texts for i in range(len(t) - n + 1)) for n in range(1, 5)]
        self.total = sum(self.counts[0].values())

    def _log(self, text: list[str], at: int) -> float:
        for n in range(4, 1, -1):
            gram = tuple(text[max(0, at - n + 1) : at + 1])
            if len(gram) == n and self.counts[n - 1][gram]:
                return math.log(0.4) * (4 - n) + math.log(self.counts[n - 1][gram] / self.counts[n - 2][gram[:-1]])
        return math.log(0.4) * 3 + math.log((self.counts[0][(text[at],)] + 0.5) / self.total)

    def score(self, text: list[str], at: int) -> float:
        return sum(self._log(text, n) for n in range(at, min(at + 4, len(text))))


def candidates(blank: Blank, alone: bool) -> tuple[list[list[str]], int]:
    """The text with each word that might stand in the blank, the right one first."""
    start, stop = blank.sentence if alone else (0, len(blank.words))
    text, at = [word.lower() for word in blank.words[start:stop]], blank.at - start
    return [[*text[:at], word.lower(), *text[at + 1 :]] for word in (blank.right, *blank.wrong)], at


def padded(rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])
    return ids, ids != PAD


def optimisers(module: nn.Module) -> list[tuple[torch.optim.Optimizer, float]]:
    inner = [p for name, p in module.named_parameters() if name.startswith("layers.") and p.dim() == 2]
    taken = {id(p) for p in inner}
    outer = [p for p in module.parameters() if id(p) not in taken]
    return [(torch.optim.Muon(inner, lr=0.02, weight_decay=0.01), 0.02), (torch.optim.AdamW(outer, lr=3e-3), 3e-3)]


def train(module: Transformer, losses, steps: int, seconds: float) -> tuple[int, float]:  # type: ignore[no-untyped-def]
    """Take steps until they or the seconds are used up; the rate follows whichever is nearer its end."""
    parts, start, step = optimisers(module), time.perf_counter(), 0
    module.train()
    for step in range(1, steps + 1):
        spent = max(step / steps, (time.perf_counter() - start) / seconds)
        if spent >= 1 and step > 1:
            break
        loss = losses(module)
        module.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        for optimiser, full in parts:
            for group in optimiser.param_groups:
                group["lr"] = full * lr_share("cosine", max(1, round(spent * 1000)), 1000, 0.05)
            optimiser.step()
    module.eval()
    return step, time.perf_counter() - start


def masked_loss(pairs, content: np.ndarray, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """BERT's two losses; words that stand twice in a row are hidden more often, as they can be found again."""

    def loss(module: Transformer) -> Tensor:
        picked = [pairs[int(n)] for n in rng.integers(0, len(pairs), BATCH)]
        ids, real = padded([row for row, _, _ in picked])
        segments, _ = padded([[*[0] * cut, *[1] * (len(row) - cut)] for row, cut, _ in picked])
        known = ids.numpy()
        twice = np.stack([np.bincount(row, minlength=len(content))[row] > 1 for row in known]) & content[known]
        hidden = (rng.random(known.shape) < np.where(twice, 0.3, 0.12)) & (known >= SPECIALS)
        fate = rng.random(known.shape)
        source = np.where(hidden & (fate < 0.8), MASK, known)
        source = np.where(hidden & (fate > 0.9), rng.integers(SPECIALS, len(content), known.shape), source)
        states = module(torch.from_numpy(source), segments, real)
        place = torch.from_numpy(hidden)
        answer = torch.tensor([int(not follows) for *_, follows in picked])
        return functional.cross_entropy(module.head(states[place]), ids[place]) + functional.cross_entropy(
            module.next_sentence(states), answer
        )

    return loss


def causal_loss(rows: list[list[int]], rng: np.random.Generator):  # type: ignore[no-untyped-def]
    def loss(module: Transformer) -> Tensor:
        ids, real = padded([rows[int(n)] for n in rng.integers(0, len(rows), BATCH)])
        scored = real[:, 1:]
        return functional.cross_entropy(module.head(module(ids, None, real)[:, :-1][scored]), ids[:, 1:][scored])

    return loss


@torch.no_grad()
def masked_scores(module: Transformer, vocabulary: Words, texts: list[list[str]], at: int) -> list[float]:
    row = [CLS, *vocabulary.of(texts[0]), SEP]
    answers = [row_[at] for row_ in map(vocabulary.of, texts)]
    row[at + 1] = MASK
    states = module(torch.tensor([row[: LENGTH + 2]]))
    return module.head(states[:, at + 1])[0, answers].tolist()


@torch.no_grad()
def causal_scores(module: Transformer, vocabulary: Words, texts: list[list[str]], at: int) -> list[float]:
    ids = torch.tensor([[SEP, *vocabulary.of(text)][: LENGTH + 2] for text in texts])
    logs = functional.log_softmax(module.head(module(ids)[:, :-1]), -1)
    return logs.gather(-1, ids[:, 1:, None])[..., 0][:, at:].sum(1).tolist()


def asked(vocabulary: Words, seed: int) -> dict[str, list[tuple[Blank, bool]]]:
    """Blanks of test stories, by phenomenon; agreement also in its sentence alone."""
    results: dict[str, list[tuple[Blank, bool]]] = defaultdict(list)
    for blank in blanks(6000, seed):
        names = [(blank.phenomenon, False)]
        if blank.phenomenon.startswith("agreement"):
            names.append((blank.phenomenon + ", sentence alone", True))
        known = UNKNOWN not in vocabulary.of((blank.right, *blank.wrong)) and len(blank.words) <= LENGTH - 2
        for name, alone in names:
            if known and len(results[name]) < PER_PHENOMENON:
                results[name].append((blank, alone))
    return results


def measure(score, grams: Grams, vocabulary: Words, seed: int) -> list[Row]:  # type: ignore[no-untyped-def]
    rows = []
    for name, items in asked(vocabulary, seed).items():
        right = gram = 0.0
        for blank, alone in items:
            texts, at = candidates(blank, alone)
            right += int(np.argmax(score(texts, at))) == 0
            gram += int(np.argmax([grams.score(text, at) for text in texts])) == 0
        rng = float(np.mean([1 / (1 + len(blank.wrong)) for blank, _ in items]))
        rows.append((name, right / len(items), rng, gram / len(items), len(items)))
    return rows


def material(count: int) -> tuple[list[list[str]], Words, Grams]:
    texts = [words(story) for story in scripted_stories(count, 1)]
    return texts, Words(texts), Grams(texts)


def causal(count: int, steps: int, seconds: float) -> tuple[str, list[Row]]:
    torch.set_num_threads(1)
    texts, vocabulary, grams = material(count)
    rows = [[SEP, *vocabulary.of(text), SEP][: LENGTH + 2] for text in texts]
    module = Transformer(configure("gpt2", "tiny", vocab=vocabulary.size))
    initialise(module, 0)
    taken, spent = train(module, causal_loss(rows, np.random.default_rng(0)), steps, seconds)
    results = measure(lambda texts_, at: causal_scores(module, vocabulary, texts_, at), grams, vocabulary, 5)
    return f"causal model, 128 x 2: {taken} steps of {BATCH} stories in {spent:.0f} s, {vocabulary.size} words", results


def row_of(pair, vocabulary: Words) -> tuple[list[int], int, bool]:  # type: ignore[no-untyped-def]
    first = [CLS, *vocabulary.of(words(pair.first)), SEP]
    return [*first, *vocabulary.of(words(pair.second)), SEP][:128], len(first), pair.follows


def masked(count: int, steps: int, seconds: float) -> tuple[str, list[Row]]:
    torch.set_num_threads(1)
    _, vocabulary, grams = material(count)
    rows = [row_of(pair, vocabulary) for pair in following(count, 1)]
    frequent = np.bincount([i for row, *_ in rows for i in row], minlength=vocabulary.size)
    content = frequent < 0.004 * frequent.sum()
    content[:SPECIALS] = False
    module = Transformer(configure("bert", "tiny", vocab=vocabulary.size))
    initialise(module, 0)
    taken, spent = train(module, masked_loss(rows, content, np.random.default_rng(0)), steps, seconds)
    results = measure(lambda texts_, at: masked_scores(module, vocabulary, texts_, at), grams, vocabulary, 5)
    results += [next_sentence(module, vocabulary), senses(module, vocabulary)]
    return f"masked model, 64 x 2: {taken} steps of {BATCH} pairs in {spent:.0f} s, {vocabulary.size} words", results


@torch.no_grad()
def next_sentence(module: Transformer, vocabulary: Words) -> Row:
    """Chance is the one-line rule "B shares a name with A"."""
    right, rule, count = 0, 0, 0
    for pair in itertools.islice(following(1000, 6, "test"), 1000):
        row, cut, follows = row_of(pair, vocabulary)
        states = module(torch.tensor([row]), torch.tensor([[0] * cut + [1] * (len(row) - cut)]))
        right += int(module.next_sentence(states)[0].argmax()) == int(not follows)
        shared = set(NAME.findall(" ".join(pair.first))) & set(NAME.findall(" ".join(pair.second)))
        rule, count = rule + (bool(shared) == follows), count + 1
    return "next sentence (n-gram: shares a name)", right / count, 0.5, rule / count, count


@torch.no_grad()
def senses(module: Transformer, vocabulary: Words) -> Row:
    """A linear probe on the last states; chance: the word's most frequent sense; n-gram: the words left and right of it."""
    states, around, answers, lemmas = [], [], [], []
    by = {"validation": 0, "test": 0}
    for split, count in (("train", 4000), ("test", 1500)):
        for story in labelled_scripts(count, 9, split):
            row = [CLS, *vocabulary.of([word.text for word in story.words]), SEP]
            places = [n for n, word in enumerate(story.words) if word.sense and n < LENGTH]
            if not places or len(row) > 128:
                continue
            hidden = module(torch.tensor([row]))[0]
            for n in places:
                states.append(hidden[n + 1].numpy())
                around.append([story.words[n - 1].text.lower(), story.words[n + 1].text.lower()])
                answers.append(story.words[n].sense)
                lemmas.append(story.words[n].sense.split(".")[0])
        by[split] = len(states)
    return _probe(np.array(states), around, answers, lemmas, by["train"])


def _probe(states: np.ndarray, around, answers, lemmas, cut: int) -> Row:  # type: ignore[no-untyped-def]
    right = major = near = total = 0.0
    for lemma in sorted(set(lemmas)):
        here = np.array([n for n, word in enumerate(lemmas) if word == lemma])
        before, after = here[here < cut], here[here >= cut]
        names = sorted({answers[n] for n in before})
        if len(names) < 2 or len(after) < 10 or len(before) < 30:
            continue
        gold = np.array([names.index(answers[n]) if answers[n] in names else -1 for n in here])
        old, new = gold[: len(before)], gold[len(before) :]
        known = {word: n for n, word in enumerate(sorted({w for n in before for w in around[n]}))}
        bag = np.zeros((len(here), len(known)))
        for row, n in enumerate(here):
            bag[row, [known[w] for w in around[n] if w in known]] = 1
        right += (classify(states[before], old, states[after]) == new).sum()
        near += (classify(bag[: len(before)], old, bag[len(before) :]) == new).sum()
        major, total = major + (new == np.bincount(old).argmax()).sum(), total + len(after)
    return "word senses (probe)", right / total, major / total, near / total, int(total)


def translation(count: int, seconds: float) -> tuple[str, list[Row]]:
    """A 128 x (2 + 2) Transformer on that many English-French pairs; exact match on sentences that were not among them."""
    torch.set_num_threads(1)
    learned, fresh = list(pairs(count, 1)), list(pairs(300, 9, "test"))
    run = ex.fit("transformer", corpus=[Translation(p.english, p.french) for p in learned], steps=100_000, device="cpu", pieces=1500,
                 schedule="constant", warm=0.001)  # fmt: skip
    start = time.perf_counter()
    for _ in run:
        if time.perf_counter() - start > seconds:
            run.stop()
    results = translated(run.model, [pair.english for pair in fresh])
    right = float(np.mean([answer == pair.french for answer, pair in zip(results, fresh, strict=True)]))
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in learned:
        for i, j in pair.alignment:
            table[pair.english_words[i].lower()][pair.french_words[j].lower()] += 1
    guess = [[table[w.lower()].most_common(1)[0][0] if w.lower() in table else w for w in pair.english_words] for pair in fresh]
    plain = float(np.mean([g == [w.lower() for w in pair.french_words] for g, pair in zip(guess, fresh, strict=True)]))
    row = ("translated word for word right (n-gram: a dictionary)", right, 0.0, plain, len(fresh))
    return f"Transformer, 128 x (2 + 2): {run.step} steps of 32 sentences out of {count:,} pairs in {seconds:.0f} s", [row]


def show(title: str, rows: list[Row], often: Counter[str]) -> None:
    print(
        f"\n{title}\n\n| phenomenon | accuracy | chance | n-gram | items | in 1,000 stories | |\n|---|---|---|---|---|---|---|"
    )
    for name, right, rng, gram, items in rows:
        mark = "not learned" if right - rng < 2 * math.sqrt(rng * (1 - rng) / items) else ""
        print(f"| {name:44} | {right:.3f} | {rng:.3f} | {gram:.3f} | {items} | {often[name]} | {mark} |")


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--stories", type=int, default=20_000)
    read.add_argument("--steps", type=int, default=40_000)
    read.add_argument("--seconds", type=float, default=210, help="of training, for each of the two models")
    read.add_argument("--rounds", type=int, default=0, help="a quick look: this many seconds, few stories and pairs")
    read.add_argument("--pairs", type=int, default=5000, help="English-French pairs to learn from")
    chosen = read.parse_args()
    if chosen.rounds:
        chosen.seconds, chosen.stories, chosen.pairs = chosen.rounds, 800, 300
    often = Counter(blank.phenomenon for blank in blanks(1000, 1, "train"))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        runs = [pool.submit(task, chosen.stories, chosen.steps, chosen.seconds) for task in (masked, causal)]
        for run in runs:
            show(*run.result(), often)
        show(*pool.submit(translation, chosen.pairs, chosen.seconds / 2).result(), often)


if __name__ == "__main__":
    main()
