"""The card of a shipped model: what it is, how to make it again, and what three seeds of it do. And the table made of all cards."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from explorer.errors import FileError
from explorer.models import store
from explorer.models.card_figures import CARD
from explorer.models.card_figures import figures as figures
from explorer.training.objectives import OBJECTIVES
from studies.study import table

TRAINED = "seconds of training"
USUAL = (
    "objective", "strategy", "steps", "batch", "schedule", "warm", "optimiser", "smoothing", "precision", "mask_rate_first",
    "mask_rate", "random_until",
)  # fmt: skip
NAMED, READ = {"static": "table of word vectors"}, {"co-occurrence": "pairs of words, with their counts"}
FLAGS = ("corpus", "steps", "batch", "rate")
AGAIN = {False: "python -m studies.recipes", True: "python -m studies.making --only"}
Figures = Mapping[int, Mapping[str, Mapping[str, float]]]  # by seed, by split, by name


def _taken_on(clock: Mapping[str, Any]) -> str:
    """The machine that a model was trained on."""
    if gpu := clock.get("gpu"):
        return f"one {gpu}, which other trainings shared"
    return f"{clock['processor']}, {clock['threads']} thread, while other work shared its two cores"


def written(name: str, run: Mapping[str, Any], choice: Mapping[str, Any], by_seed: Figures, taken: Mapping[int, Any]) -> str:
    """The card of a model of which several seeds were trained; `choice` says which of them it is and why."""
    plan, shape, system = run["plan"], run["architecture"], run["preset"]["name"]
    corpus = plan["corpus"]["name"]
    how = ", ".join(f"{part} {plan[part]}" for part in USUAL if plan.get(part) not in (None, 0.0))
    parts = [f"{shape[name]} {name}" for name in ("layers", "heads") if name in shape]
    size = f"{' × '.join([str(shape['dim']), *parts])}, {shape['vocab']:,} tokens"
    kind = f"{'An' if shape['family'][0] in 'aeiou' else 'A'} {NAMED.get(shape['family'], shape['family'])}"
    seeds, sized = list(by_seed), choice.get("size", "tiny")
    clock, again = taken[choice["seed"]], AGAIN[choice.get("longer", sized != "tiny")]
    chosen = f"Shipped is seed {choice['seed']}: the best of {len(seeds)} by *{choice['best']}* on validation text. "
    rows = [(TRAINED, *(f"{taken[seed]['seconds']:.0f}" for seed in seeds))]
    for split in by_seed[seeds[0]]:
        for figure in by_seed[seeds[0]][split]:
            values = (f"{by_seed[seed][split].get(figure, float('nan')):.3f}" for seed in seeds)
            rows.append((f"{figure} ({split})", *values))
    paragraphs = [
        f"{kind} by the preset `{system}`, size `{sized}` ({size}), {_begun(plan, choice)} on `{corpus}` "
        f"({plan['corpus']['stories']:,} {READ.get(plan['objective'], 'texts')}{_hash(corpus)}). {choice['note']}",
        f"Make it again: `{command(system, choice, plan)}`; all seeds, measured and chosen: `{again} {name}`. "
        "Another processor may round differently, so figures may differ in the last digits.",
        f"The plan: {how}. Stored in 16 bits. Time taken on {_taken_on(clock)}, torch {clock['torch']}; it includes the checks on "
        "held-out text, not the learning of the tokenizer.",
        f"{chosen if len(seeds) > 1 else ''}Validation text tells facts that training did not tell; test text has words that training "
        "never had as well.",
    ]
    figures_of_seeds = table(["figure", *(f"seed {seed}" for seed in seeds)], rows)
    end = "The model has read only generated text. Words that it never met are marked in every picture, and what it makes of them is noise."
    wrapped = [fill(paragraph.strip(), 128, break_on_hyphens=False) for paragraph in (*paragraphs, end)]
    return "\n\n".join([f"# {name}", *wrapped[:-1], figures_of_seeds, wrapped[-1]]) + "\n"


def _begun(plan: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
    """From what it was trained, and by whom it was taught."""
    teacher = plan.get("teacher")
    if choice.get("begins"):
        return f"trained further, from the last weights of `{choice['begins']}` (below),"
    if not teacher:
        return "trained from scratch"
    how = "taught by it" if OBJECTIVES[plan["objective"]].taught else "then trained without it"
    return f"begun with layers of `{teacher['name']}` (weights with the SHA-256 {teacher['sha256'][:16]}…) and {how}"


def _hash(corpus: str) -> str:
    """The hash of the card of the corpus, where it has one."""
    path = store.data_folder() / "corpora" / corpus.partition(":")[0] / CARD
    return f"; its card has the SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}…" if path.is_file() else ""


def command(system: str, choice: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """The line that trains this model again: the preset's own settings, and what differs from them."""
    flags = [f"--seed {choice['seed']}", "--device cpu", f"--precision {plan['precision']}"]
    for name, value in choice.get("options", {}).items():
        flags.append(f"--{name} {value}" if name in FLAGS else f"--set {name}={value}")
    if begins := choice.get("begins"):
        return " ".join([f"explorer fit runs/models/{begins}-{choice['seed']}", *flags])
    return " ".join(["explorer fit", system, f"--size {choice.get('size', 'tiny')}", *flags])


TWIN, ALONE = "Exported, it opens as", "Hugging Face has no class for it"


def with_twin(card: str, weights: int, architecture: str, gap: float, texts: int) -> str:
    """The card with what is known of its twin, in place of what stood there about it."""
    return _told(
        card,
        f"{TWIN} `{architecture}`: {weights:,} weights, and of {texts} held-out texts, padded, its scores differ from those of that "
        f"class by at most {gap:.1e}.",
    )


def without_twin(card: str, weights: int) -> str:
    """The card of a model that no class of Hugging Face's can hold."""
    return _told(card, f"{ALONE}: {weights:,} weights, compared with its paper's formulas in the tests instead.")


WORDS = "Its tokenizer"


def with_words(card: str, words: int, cut: int, often: int, often_cut: int) -> str:
    """The card with the share of words that its tokenizer cuts, in place of what stood there about it."""
    paragraph = (
        f"{WORDS} cuts {cut / words:.2%} of the {words:,} words (and signs) of its training texts into several tokens; of the "
        f"{often:,} different ones that occur 50 times or more, {often_cut:,}."
    )
    return _told(card, paragraph, (WORDS,))


CONTROL = "Measured beside it, not shipped."


def with_control(card: str, label: str, about: str, rows: Mapping[str, float]) -> str:
    """The card of a model with what a control reached, in place of what it had of one; each figure begins with the label."""
    lines = [line for line in card.split("\n") if not line.startswith(f"| {label}: ")]
    last = max(number for number, line in enumerate(lines) if line.startswith("|"))
    lines[last + 1 : last + 1] = [f"| {name} | {value:.3f} |" for name, value in rows.items()]
    return _told("\n".join(lines), f"{CONTROL} {about}. Its figures are those *{label}*.", (CONTROL,))


def _told(card: str, paragraph: str, before: tuple[str, ...] = (TWIN, ALONE)) -> str:
    """The card with this paragraph before its figures, in place of the one that began so."""
    kept = [part for part in card.split("\n\n") if not part.startswith(before)]
    place = next(number for number, part in enumerate(kept) if part.startswith("| figure"))
    return "\n\n".join([*kept[:place], fill(paragraph, 128, break_on_hyphens=False), *kept[place:]])


def twin_of(card: str) -> tuple[str, str, str]:
    """How many weights a card tells of, its twin, and the largest difference to it; dashes where no twin can be."""
    paragraph = next((part for part in card.split("\n\n") if part.startswith((TWIN, ALONE))), "")
    if paragraph.startswith(ALONE):
        return paragraph.split()[7], "–", "–"
    match = re.search(r"`(\w+)`: ([\d,]+) weights.*at most (\S+)\.$", " ".join(paragraph.split()))
    if match is None:
        raise FileError("This card tells nothing of a twin. Measure it: python -m studies.recipes --twins.")
    return match[2], match[1], match[3]


def model_table(models: Path, shown: Mapping[str, tuple[str, ...]]) -> str:
    """The first table of docs/results.md: a row for each model, with its weights, its time, its first figure and its twin."""
    rows = []
    for name, (first, *_) in shown.items():
        card = card_of_model(models, name)
        (weights, twin, gap), values = twin_of(card), figures(card)
        seconds = _spread(values.get(TRAINED, ()), 0)
        rows.append((name, weights, seconds, first, _spread(values.get(f"{first} (validation)", ())), twin, gap))
    head = ("model", "weights", "seconds", "learned, on held-out text", "", "twin", "largest difference")
    return table(head, rows)


def card_of_model(models: Path, name: str) -> str:
    """The card of a shipped model."""
    path = models / name / CARD
    if not path.is_file():
        raise FileError(f"There is no {path}. Train the model first: python -m studies.recipes {name}.")
    return path.read_text("utf-8")


def figure_table(models: Path, shown: Mapping[str, tuple[str, ...]]) -> str:
    """The second table of docs/results.md: for each model its time and the figures asked for, over the seeds of its card."""
    rows = []
    for name, wanted in shown.items():
        values = figures(card_of_model(models, name))
        for number, figure in enumerate(wanted):
            cells = [_spread(values.get(f"{figure} ({split})", ())) for split in ("validation", "test")]
            rows.append(("" if number else name, figure, *cells, "" if number else _spread(values.get(TRAINED, ()), 0)))
    return table(("model", "figure", "validation", "test", "seconds"), rows)


def _spread(values: tuple[float, ...], digits: int = 3) -> str:
    """The mean of the seeds, with the lowest and the highest."""
    if not values:
        return ""
    low, mean, high = np.min(values), np.mean(values), np.max(values)
    return f"{mean:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})" if len(values) > 1 else f"{mean:.{digits}f}"
