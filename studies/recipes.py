"""The shipped models: some seeds of each by its recipe, measured on held-out text; the best is shipped with a card.

`python -m studies.recipes` trains in `runs/recipes` what takes minutes, then ships it; with names, only those. `--table` prints the
tables of docs/results.md from the cards.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from explorer.analysis.evaluation.context import plain
from explorer.analysis.evaluation.minimal import minimal_scores, translates
from explorer.errors import ChoiceError
from explorer.microworld.derived.minimal import PHENOMENA
from explorer.models import run_folder, store
from explorer.models.hub.parity import difference
from explorer.models.load import export, load
from explorer.models.model import TrainableModel, trainable
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import TrainingStep
from explorer.text.begin_token import only_begins
from explorer.text.examples import prepared
from explorer.text.learning import count_words, cut_words
from explorer.training import resume
from explorer.training.checking import measure, with_baseline
from explorer.training.corpora import Corpus, full_name, recorded_corpus
from explorer.training.fit import TrainingRun, fit
from explorer.training.objectives import OBJECTIVES
from explorer.training.run import Run
from explorer.training.steps import steps_of
from studies import model_cards
from studies.typical import measure_typical

SEEDS, TEXTS, WORKSHOP = (0, 1, 2), 500, Path("runs") / "recipes"
CLOCK, CLOCK_EVERY = "time.json", 20.0  # how long a run took, and after how many seconds that is written down
TWINS = 16  # so many texts are read by a model and by its twin
SPLITS = ("validation", "test")
ASKED_IN_PAIRS = ("mlm", "mlm+nsp", "mlm+sbo", "distillation", "causal", "translation", "denoising")
BEGINS = (
    "Every row of its training began with the end token, so its tokenizer writes that token before every text: without it the model "
    "predicts worse."
)
OFTEN = 50  # a word met so often should be one token
# Of a longer recipe: stories, plain sentences and exchanges, most of them short, so many of like length share a batch.
LONGER_OPTIONS: dict[str, Any] = {"corpus": "microworld-2.0:240000", "steps": 0, "batch": 64, "by_length": True}


@dataclass(frozen=True)
class Recipe:
    """How a shipped model is made: a system, what differs from its preset, and by which figure (the first shown) a seed is chosen."""

    system: str
    shown: tuple[str, ...]  # the figures of the table in docs/results.md
    largest: bool = True
    keep: int = 0  # how many snapshots travel with it
    seeds: tuple[int, ...] = SEEDS
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    size: str = "tiny"
    longer: bool = False  # whether it takes so long that `python -m studies.making` trains it
    minutes: float = 5.0  # about how long a run takes on two cores
    judged: tuple[str, ...] = ()  # by the mean of these a candidate is compared with what is shipped; else by the first shown
    control_of: str = ""  # the model on whose card its figures are, each after this `label`: a control is not shipped itself
    label: str = ""
    begins: str = ""  # the recipe with whose model it begins, to train it further


TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
WAITING = frozenset(TABLES.pop("waiting"))


def recipe_of(entry: dict[str, Any], groups: Mapping[str, list[str]]) -> Recipe:
    """What an entry of `recipes.toml` says; a list of figures names groups with a star."""
    usual = Recipe("", (), size="mini", seeds=(0,), options=LONGER_OPTIONS) if entry.get("longer") else Recipe("", ())
    for name in ("shown", "judged"):
        listed = [groups[figure[1:]] if figure.startswith("*") else [figure] for figure in entry.get(name, ())]
        entry[name] = tuple(figure for figures in listed for figure in figures)
    options = {name: value if value != "" else None for name, value in entry.pop("options", {}).items()}
    return replace(usual, **entry | {"seeds": tuple(entry.get("seeds", usual.seeds)), "options": usual.options | options})


GROUPS = TABLES.pop("groups")
EVERY = {name: recipe_of(entry, GROUPS) for name, entry in TABLES.items()}
RECIPES = {name: recipe for name, recipe in EVERY.items() if not recipe.control_of}  # of what is shipped
LONGER = dict(sorted(((name, recipe) for name, recipe in EVERY.items() if recipe.longer), key=lambda item: -item[1].minutes))


def changes(name: str) -> list[str]:
    """In what a shipped model differs from its recipe as it is now."""
    recipe, folder = RECIPES[name], store.data_folder() / "models" / name
    kept = len(run_folder.snapshots(folder))
    return differences(recipe, folder) + ([f"{kept} snapshots, now {recipe.keep}"] if kept != recipe.keep else [])


def begun(recipe: Recipe, seed: int, folder: Path, device: str = "cpu") -> TrainingRun:
    """The run of a recipe in a folder, from its beginning or from where it was stopped."""
    if (folder / run_folder.RUN).is_file():
        check_same(recipe, folder)
    what = trainable(load(first_of(recipe, seed, folder), device=device)) if recipe.begins else recipe.system
    return fit(what, size=recipe.size, seed=seed, folder=folder, device=device, **recipe.options)


def first_of(recipe: Recipe, seed: int, folder: Path) -> Path:
    """Where the model is kept with which a recipe begins: beside its own run."""
    return folder.with_name(f"{recipe.begins}-{seed}")


def timed(run: TrainingRun, folder: Path) -> Iterator[TrainingStep]:
    """Go on with a run to its end; how long all its steps took, in every sitting, is kept in its folder.

    On a processor that is processor time, which other programs on the machine make no longer; on a GPU it is the time on a clock.
    """
    gpu = torch.cuda.get_device_name() if isinstance(run, Run) and run.model.device.type == "cuda" else ""
    clock = time.perf_counter if gpu else time.process_time
    before, begin, saved = seconds(folder), clock(), -CLOCK_EVERY
    for step in run:
        if clock() - saved >= CLOCK_EVERY:
            saved = clock()
            _write_clock(folder, before + saved - begin, gpu)
        yield step
    if saved >= 0:
        _write_clock(folder, before + clock() - begin, gpu)


def _write_clock(folder: Path, taken: float, gpu: str) -> None:
    """Keep the seconds of a run beside what they were taken on; a GPU that did a part of it stays named."""
    before = json.loads((folder / CLOCK).read_text("utf-8")) if (folder / CLOCK).is_file() else {}
    about = {"seconds": taken, "gpu": gpu or before.get("gpu", ""), **machine()}
    resume.replace_file(folder / CLOCK, (json.dumps(about) + "\n").encode("utf-8"))


def seconds(folder: Path) -> float:
    """How long the steps of a run took so far."""
    return float(json.loads((folder / CLOCK).read_text("utf-8"))["seconds"]) if (folder / CLOCK).is_file() else 0.0


def check_same(recipe: Recipe, folder: Path) -> None:
    """Refuse a run that was made before the recipe or the preset changed."""
    if different := differences(recipe, folder):
        raise ChoiceError(
            f"{folder} was made by another recipe ({'; '.join(different)}). Move it away or delete it, then train it again."
        )


def differences(recipe: Recipe, folder: Path) -> list[str]:
    """In what a run differs from its recipe and its preset as they are now."""
    system, about = preset(recipe.system), run_folder.described(folder)
    values = {**about["architecture"], **about["plan"]}
    values["teacher"] = (values.get("teacher") or {}).get("name")  # a plan tells its weights too
    values["corpus"] = about["plan"].get("corpus", {}).get("name")
    usual = system.tiny if recipe.size == "tiny" and "objective" not in recipe.options else {}
    shape = {} if recipe.size == "tiny" or recipe.options.get("teacher") else system.sizes[recipe.size]
    first = EVERY[recipe.begins].options if recipe.begins else {}
    settings = {**system.plan, **usual, **shape, **first, **recipe.options}
    wanted = {name: value for name, value in settings.items() if name in values}
    if "corpus" in wanted:
        wanted["corpus"] = full_name(wanted["corpus"])
    return [f"{name}={values[name]!r}, now {value!r}" for name, value in wanted.items() if values[name] != value]


def machine() -> dict[str, Any]:
    """What the time was taken on."""
    about = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").is_file() else ""
    names = [line.split(":")[1].strip() for line in about.splitlines() if line.startswith("model name")]
    processor = names[0] if names else platform.machine()
    return {"processor": processor, "threads": torch.get_num_threads(), "torch": str(torch.__version__)}


def figures(name: str, folder: Path, like: str = "") -> dict[str, dict[str, float]]:
    """What a run's model, stored in 16 bits, does on held-out text of both kinds: of its own corpus, or of that of a shipped model.

    It is measured once and kept beside it.
    """
    if (folder / "figures.json").is_file():
        return dict(json.loads((folder / "figures.json").read_text("utf-8")))
    plan = run_folder.described(folder)["plan"]
    if like:
        plan["corpus"] = run_folder.described(store.folder_of(like))["plan"]["corpus"]
    model = trainable(store.read(folder, name, run_folder.snapshots(folder)[-1]))
    by_split = {split: measured(model, plan, split) for split in SPLITS}
    (folder / "figures.json").write_text(json.dumps(by_split) + "\n", "utf-8")
    return by_split


def measured(model: TrainableModel, plan: dict[str, Any], split: str, texts: int = TEXTS) -> dict[str, float]:
    """The figures of a model on so many texts of a split."""
    corpus = _corpus(plan["corpus"]["name"])
    stories = partial(prepared, corpus.texts, model.tokenizer)
    held_out = with_baseline(corpus.held(texts, split), plan["objective"], model.tokenizer, stories)
    if OBJECTIVES[plan["objective"]].taught:
        held_out = replace(held_out, teacher=transformer(store.open_by_name(plan["teacher"]["name"])))
    metrics = dict(measure(model, plan["objective"], held_out, strategy=plan["strategy"], thorough=True).metrics)
    in_pairs = plan["objective"] in ASKED_IN_PAIRS and corpus.base != "tasks-as-text"  # whose texts begin with a prefix
    return metrics | (minimal_figures(transformer(model), split) if in_pairs else {})


def minimal_figures(model: TransformerModel, split: str) -> dict[str, float]:
    """How often a model is right in both texts of a minimal pair, by phenomenon, bare and inside stories."""
    shares: dict[str, float] = {}
    for phenomenon in PHENOMENA:
        if (phenomenon == "il or elle") != translates(model):
            continue
        for inside in (False, True) if phenomenon == "reason" else (False,):
            scores = minimal_scores(model, phenomenon, split=split, inside=inside)
            shares[f"minimal pairs, {phenomenon}{', in stories' * inside}: both of a pair"] = scores.both
    return shares


@lru_cache(maxsize=2)
def _corpus(name: str) -> Corpus:
    return recorded_corpus(name)


def ship(name: str, recipe: Recipe, folders: Mapping[int, Path]) -> Path:
    """The best seed on validation text, with its card; what is shown of all of them comes from both splits."""
    by_seed = {seed: figures(name, folder) for seed, folder in folders.items()}
    sign = 1 if recipe.largest else -1
    best = max(folders, key=lambda seed: sign * by_seed[seed]["validation"][recipe.shown[0]])
    folder = folders[best]
    taken = {seed: json.loads((place / CLOCK).read_text("utf-8")) for seed, place in folders.items()}
    firsts = {seed: first_of(recipe, seed, place) for seed, place in folders.items() if recipe.begins}
    for seed, first in firsts.items():
        taken[seed]["seconds"] += seconds(first)
    kept = telling(snapshot_losses(folder), recipe.keep)
    begins = BEGINS if only_begins(store.read_tokenizer(folder)) else ""
    choice = {"seed": best, "best": recipe.shown[0], "note": f"{recipe.note} {begins}".strip(), "options": recipe.options}
    choice |= {"size": recipe.size, "longer": recipe.longer, "begins": recipe.begins}
    card = model_cards.written(name, run_folder.described(folder), choice, by_seed, taken)
    shipped = store.ship(folder, store.data_folder() / "models" / name, keep=kept, card=card)
    tell_twin(name)
    tell_words(name)
    if recipe.begins:
        continue_curve(firsts[best], shipped)
        tell_control(recipe.begins, EVERY[recipe.begins], best, firsts[best])
    measure_typical([name])
    return shipped


def continue_curve(first: Path, shipped: Path) -> None:
    """Put the steps of the first training before those of the second, which count on."""
    before, after = run_folder.lines(first), run_folder.lines(shipped)
    after = [step | {"step": step["step"] + before[-1]["step"]} for step in after]
    before = [step | {"snapshot": None} for step in before]
    (shipped / run_folder.STEPS).write_bytes(run_folder.step_lines(run_folder.with_few_digits([*before, *after])))


def tell_control(name: str, recipe: Recipe, seed: int, folder: Path) -> None:
    """Write what a control reached, and what trains it again, into the card of the model that it is compared with."""
    by_split, plan = figures(name, folder, recipe.control_of), run_folder.described(folder)["plan"]
    rows = {
        f"{recipe.label}: {figure} ({split})": value
        for split, values in by_split.items()
        for figure, value in values.items()
        if figure in recipe.shown
    }
    choice = {"seed": seed, "size": recipe.size, "options": recipe.options}
    card = store.folder_of(recipe.control_of) / model_cards.CARD
    about = (
        f"{recipe.note}: `{model_cards.command(recipe.system, choice, plan)}`, measured by `{model_cards.AGAIN[True]} {name}`"
    )
    card.write_text(model_cards.with_control(card.read_text("utf-8"), recipe.label, about, rows), "utf-8")


def tell_words(name: str) -> None:
    """Count the words that a shipped model's tokenizer cuts in the texts it was trained on, and write that into its card."""
    model, folder = trainable(store.open_by_name(name)), store.folder_of(name)
    corpus = _corpus(run_folder.described(folder)["plan"]["corpus"]["name"])
    words = count_words(model.tokenizer.core, (" ".join(text) for text in corpus.texts))
    cut = cut_words(model.tokenizer, words)
    often = [word for word, count in words.items() if count >= OFTEN]
    counted = words.total(), cut.total(), len(often), sum(word in cut for word in often)
    card = folder / model_cards.CARD
    card.write_text(model_cards.with_words(card.read_text("utf-8"), *counted), "utf-8")


def tell_twin(name: str) -> None:
    """Measure how far a shipped model is from its Hugging Face class, where there is one, and write it into its card."""
    model, folder = store.open_by_name(name), store.folder_of(name)
    card = folder / model_cards.CARD
    weights = sum(weight.numel() for weight in model.module.parameters())
    if model.family in ("bilm", "static"):  # no class of Hugging Face's is of this family
        card.write_text(model_cards.without_twin(card.read_text("utf-8"), weights), "utf-8")
        return
    corpus = _corpus(run_folder.described(folder)["plan"]["corpus"]["name"])
    texts = [plain(text) for text in corpus.held(TWINS, "validation").texts]
    with TemporaryDirectory() as place:
        architecture, gap = difference(transformer(model), export(model, place), texts)
    card.write_text(model_cards.with_twin(card.read_text("utf-8"), weights, architecture, gap, len(texts)), "utf-8")


def telling(losses: Mapping[int, float], count: int) -> tuple[int, ...]:
    """So many snapshots, the first and the last among them, and each next one the farthest in loss from those taken before it: where a
    model changes most there are most of them.

    >>> telling({1: 8.0, 10: 7.9, 100: 5.0, 1000: 2.0, 10_000: 1.5}, 3)
    (1, 100, 10000)
    """
    steps = sorted(losses)
    taken = {steps[0], steps[-1]} if count > 1 else set(steps[-count:] if count else ())
    while 1 < len(taken) < min(count, len(steps)):
        gaps = {step: min(abs(losses[step] - losses[other]) for other in taken) for step in steps if step not in taken}
        taken.add(max(gaps, key=gaps.__getitem__))
    return tuple(sorted(taken))


def snapshot_losses(folder: Path) -> dict[int, float]:
    """The loss at each snapshot of a run: on held-out text as it was measured last, or in training before the first measurement."""
    kept, losses, held_out = set(run_folder.snapshots(folder)), {}, None
    for step in steps_of(folder):
        held_out = step.metrics.get("held-out loss", held_out)
        if step.step in kept:
            losses[step.step] = sum(step.losses.values()) if held_out is None else held_out
    return losses


def main() -> None:
    """Train what is missing, then ship; or print the table."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("names", nargs="*", help=", ".join(RECIPES))
    read.add_argument("--seeds", nargs="*", type=int, help="train these and ship nothing")
    read.add_argument(
        "--twins",
        action="store_true",
        help="only compare the shipped models with their Hugging Face classes, and count the words that they cut",
    )
    read.add_argument("--table", action="store_true", help="write the tables of docs/results.md from the shipped cards")
    options = read.parse_args()
    if options.table:
        import_module("studies.results_page").main()  # which reads the recipes
        return
    if options.twins:
        for name in options.names or list(RECIPES):
            tell_twin(name)
            tell_words(name)
        return
    torch.set_num_threads(1)  # two runs side by side use two cores better than one run on both
    for name in options.names or [name for name, recipe in RECIPES.items() if not recipe.longer]:
        for seed in RECIPES[name].seeds if options.seeds is None else options.seeds:
            folder = WORKSHOP / f"{name}-{seed}"
            for step in timed(begun(RECIPES[name], seed, folder), folder):
                if step.metrics:
                    sys.stderr.write(f"{name}-{seed} {step.step}: {dict(step.losses)} {dict(step.metrics)}\n")
            figures(name, folder)
        if options.seeds is None:
            ship(name, RECIPES[name], {seed: WORKSHOP / f"{name}-{seed}" for seed in RECIPES[name].seeds})


if __name__ == "__main__":
    main()
