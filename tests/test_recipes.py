"""The shipped models: their cards tell the truth, and the README's table is the one that the cards make."""

from __future__ import annotations

import itertools
import json
import math
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
from conftest import ALL, LONG, some
from transformers import PreTrainedTokenizerFast

import explorer as ex
from explorer.analysis.evaluation.context import EvalData
from explorer.models import abilities, run_folder, store
from explorer.models.card_figures import shipped_figures
from explorer.models.presets import PRESETS
from explorer.models.shelf import RETIRED
from explorer.text.learning import count_words, cut_words
from explorer.training.checking import measure
from explorer.training.corpora import COUNTABLE, recorded_corpus
from explorer.training.steps import steps_of
from studies import model_cards, models_page, recipes
from studies.study import filled

ROOT = Path(__file__).parent.parent
NAMES = list(recipes.RECIPES)
FEW = 100


def held_of(plan: dict, count: int) -> EvalData:
    """The first validation texts of the corpus that a model was trained on; how many there are to learn from does not change them."""
    name = plan["corpus"]["name"].partition(":")[0]
    return recorded_corpus(f"{name}:{FEW}" if name in COUNTABLE else name).held(count, "validation")


def test_what_waits_is_not_shipped_and_all_else_is() -> None:
    shipped = {entry.name for entry in ex.models().values() if entry.shipped}
    assert shipped == set(NAMES)


@pytest.mark.parametrize("name", RETIRED)
def test_a_model_that_is_no_longer_shipped_is_refused_with_what_there_is_instead(name: str) -> None:
    with pytest.raises(ex.ExplorerError, match=f"^{name} is no longer shipped. Open '") as refused:
        ex.load(name)
    assert name not in NAMES and re.findall("'(.+?)'", str(refused.value))[0] in NAMES
    line = shlex.split(str(refused.value).rstrip(".").partition("explorer ")[2])
    assert line[0] == "fit" and line[1] in PRESETS


@LONG
@pytest.mark.parametrize("name", some(NAMES, "transformer", "bert-tiny"))
def test_a_card_says_what_its_model_does(name: str) -> None:
    """The figures of the shipped seed, measured again on the shipped weights with fewer texts, lie near those on the card."""
    folder = ex.models()[name].folder
    text, about = (folder / "CARD.md").read_text("utf-8"), run_folder.described(folder)
    place = text.split("| figure |")[1].split("\n")[0].split("|").index(f" seed {about['plan']['seed']} ")
    again = measure(
        ex.load(name, device="cpu"),
        about["plan"]["objective"],
        held_of(about["plan"], 150 if ALL else 60),
        strategy=about["plan"]["strategy"],
    )
    printed = model_cards.figures(text)
    wanted = [figure for figure in recipes.RECIPES[name].shown if not figure.startswith("4-gram")]
    assert wanted
    for figure in wanted:
        if figure not in again.metrics:  # asked for cards only
            continue
        printed_value = printed[f"{figure} (validation)"][place]
        least = 1.0 if figure.endswith("copying the text") else 0.15  # a BLEU, from 0 to 100
        assert again.metrics[figure] == pytest.approx(
            printed_value, abs=max(least, 0.15 * (printed_value > 1) * printed_value)
        ), figure


def test_all_that_ships_is_sixty_megabytes() -> None:
    size = sum(path.stat().st_size for path in store.data_folder().rglob("*") if path.is_file())
    assert size < 60_000_000


def test_whose_recipe_has_changed_waits_to_be_trained_again() -> None:
    changes = {name: recipes.changes(name) for name in NAMES}
    assert {name for name in NAMES if changes[name]} == recipes.WAITING, changes


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_how_to_make_its_model_again(name: str) -> None:
    """Its command has the settings of its run, and is that of the recipe unless the recipe has changed."""
    about, recipe = run_folder.described(ex.models()[name].folder), recipes.RECIPES[name]
    line, *_ = commands(name)
    plan = about["plan"]
    values = {
        **about["architecture"],
        **plan,
        "corpus": plan["corpus"]["name"],
        "teacher": (plan.get("teacher") or {}).get("name"),
    }
    given = settings(line)
    assert {setting: str(values.get(setting, value)) for setting, value in given.items()} == given
    choice = {"seed": plan["seed"], "options": recipe.options, "size": recipe.size, "begins": recipe.begins}
    assert name in recipes.WAITING or line == model_cards.command(about["preset"]["name"], choice, plan)


def commands(name: str) -> list[str]:
    """The trainings on the card of a model: its own, and that of a control."""
    return re.findall("`(explorer fit .+?)`", " ".join((ex.models()[name].folder / "CARD.md").read_text("utf-8").split()))


def settings(line: str) -> dict[str, str]:
    """The options of a command by their name."""
    _, _, _, *words = shlex.split(line)
    pairs = zip(words[::2], words[1::2], strict=True)
    return dict(value.split("=") if flag == "--set" else (flag.removeprefix("--"), value) for flag, value in pairs)


@pytest.mark.parametrize("name", [name for name, recipe in recipes.LONGER.items() if recipe.control_of])
def test_a_control_is_on_the_card_of_the_model_that_it_is_compared_with(name: str) -> None:
    """With every figure of its own on both splits; its training is the model's but for the teacher, or came before the model's."""
    recipe = recipes.LONGER[name]
    card = ex.models()[recipe.control_of].folder
    for split in recipes.SPLITS:
        found = {figure for figure in shipped_figures(card, split) if figure.startswith(recipe.label)}
        assert found == {f"{recipe.label}: {figure}" for figure in recipe.shown}
    whole, control = map(settings, commands(recipe.control_of))
    assert name not in ex.models()
    if recipes.LONGER[recipe.control_of].begins == name:
        assert commands(recipe.control_of)[0].startswith(f"explorer fit runs/models/{name}-0 ")
        texts, before = (re.split("-(?=[0-9])|:", of["corpus"])[:2] for of in (whole, control))
        assert texts[0] == before[0] and texts[1] > before[1] == "2.0"
        return
    assert {setting for setting in {*whole, *control} if whole.get(setting) != control.get(setting)} <= {"teacher", "layers"}
    assert control["teacher"] == "None"


def test_a_control_takes_the_place_of_an_older_one() -> None:
    card = "# x\n\nAn x.\n\n| figure | seed 0 |\n|---|---|\n| f1 (test) | 0.500 |\n\nThe end.\n"
    older = model_cards.with_control(
        card, "alone", "As before: `explorer fit`", {"alone: f1 (test)": 0.1, "alone: loss (test)": 3.0}
    )
    both = model_cards.with_control(older, "alone", "Now: `explorer fit`", {"alone: f1 (test)": 0.25})
    assert model_cards.figures(both) == {"f1 (test)": (0.5,), "alone: f1 (test)": (0.25,)}
    assert "As before" not in both and both.split("\n\n")[2].startswith("Measured beside it, not shipped. Now: `explorer fit`.")
    assert both.endswith("\n\nThe end.\n")


@pytest.mark.parametrize("name", [name for name in NAMES if recipes.RECIPES[name].keep and name not in recipes.WAITING])
def test_snapshots_travel_with_their_model(name: str) -> None:
    """They open, the last is the model itself, and the steps that are listed name them."""
    kept, wanted = store.snapshots_of(name), recipes.RECIPES[name].keep
    steps = steps_of(ex.models()[name].folder)
    assert len(kept) == wanted == len({step.snapshot for step in steps} - {None})
    assert [step.step for step in steps if step.snapshot] == list(kept) and kept[-1] == steps[-1].step
    first, last, whole = (ex.load(name, step=kept[0]), ex.load(name, step=kept[-1]), ex.load(name))
    states = [dict(model.module.named_parameters()) for model in (first, last, whole)]
    assert all(bool((states[1][part] == states[2][part]).all()) for part in states[2])
    assert not all(bool((states[0][part] == states[2][part]).all()) for part in states[2])


def test_the_figures_of_a_card_are_read_as_they_were_written(tmp_path: Path) -> None:
    run = {
        "plan": {"corpus": {"name": "toy", "stories": 10}, "steps": 5, "batch": 2, "objective": "causal", "seed": 1,
                 "precision": "float32"},
        "architecture": {"family": "decoder", "dim": 8, "layers": 1, "heads": 2, "vocab": 1000},
        "preset": {"name": "gpt"},
    }  # fmt: skip
    values = {seed: {"validation": {"perplexity": 3.25 + seed}, "test": {"perplexity": 5.0}} for seed in (0, 1)}
    taken = {seed: {"seconds": 60.0 + seed, "processor": "abacus", "threads": 1, "torch": "2"} for seed in (0, 1)}
    card = model_cards.written("gpt", run, {"seed": 1, "best": "perplexity", "note": "", "options": {"dim": 8}}, values, taken)
    assert "explorer fit gpt --size tiny --seed 1 --device cpu --precision float32 --set dim=8" in " ".join(card.split())
    assert model_cards.figures(card)["perplexity (validation)"] == (3.25, 4.25)
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "CARD.md").write_text(card, "utf-8")
    row = model_cards.figure_table(tmp_path, {"gpt": ("perplexity",)}).splitlines()[2]
    assert row == "| gpt | perplexity | 3.750 (3.250–4.250) | 5.000 (5.000–5.000) | 60 (60–61) |"
    with pytest.raises(ex.ExplorerError, match="studies.recipes bert"):
        model_cards.figure_table(tmp_path, {"bert": ("mlm accuracy",)})


def test_the_snapshots_that_ship_lie_where_the_loss_falls() -> None:
    losses = {1: 8.28, 4: 8.27, 18: 8.21, 75: 7.22, 318: 5.38, 1345: 2.58, 5682: 2.92, 24000: 0.62}
    assert recipes.telling(losses, 5) == (1, 75, 318, 5682, 24000)
    assert (
        recipes.telling(losses, 0) == () and recipes.telling(losses, 1) == (24000,) and recipes.telling(losses, 2) == (1, 24000)
    )
    assert recipes.telling(losses, 20) == tuple(losses)
    whole = max(
        itertools.combinations(losses, 3),
        key=lambda three: min(abs(losses[a] - losses[b]) for a, b in itertools.combinations(three, 2)),
    )
    assert recipes.telling(losses, 3) == whole, "of three, the choice that keeps any two farthest apart"


def test_a_snapshot_has_the_loss_that_was_measured_last(tmp_path: Path) -> None:
    name = next(name for name in NAMES if ex.models()[name].about()["preset"] == "bert" and ex.training.snapshots(name))
    folder = ex.models()[name].folder
    values, steps = recipes.snapshot_losses(folder), {step.step: step.metrics for step in ex.training.steps_of(folder)}
    assert tuple(values) == ex.models()[name].about()["snapshots"] and len(values) > 2
    assert all(value == steps[step]["held-out loss"] for step, value in values.items() if "held-out loss" in steps[step])
    assert all(math.isfinite(value) for value in values.values())


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_the_words_that_a_tokenizer_cuts_are_those_of_hugging_face(name: str) -> None:
    """In few stories, by the two functions that count for the cards."""
    texts, tokenizer = [" ".join(story) for story in ex.microworld.stories(400, 1)], ex.load(name, device="cpu").tokenizer
    opened = PreTrainedTokenizerFast(tokenizer_file=str(ex.models()[name].folder / "tokenizer.json"))
    words = count_words(tokenizer.core, texts)
    assert words == Counter(word for text in texts for word in cut_at(opened, text)) and len(words) > 300
    assert cut_words(tokenizer, words) == {word: words[word] for word in words if is_cut(opened, word)}


def is_cut(opened: PreTrainedTokenizerFast, word: str) -> bool:
    values = opened.backend_tokenizer.model.tokenize(word)
    return len(values) != 1 or values[0].value.lower() in ("[unk]", "<unk>")


@LONG  # the same functions count few stories above
@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_how_many_words_are_cut(name: str) -> None:
    """Counted again with the tokenizer's file as Hugging Face opens it; where every frequent word should be whole, none is cut.

    What was trained further has the tokenizer of its first texts: of the words of the second ones a few are cut.
    """
    folder = ex.models()[name].folder
    about, card = run_folder.described(folder), " ".join((folder / "CARD.md").read_text("utf-8").split())
    opened = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    words = counted(about["plan"]["corpus"]["name"], opened)
    cut = {word for word in words if is_cut(opened, word)}
    often = {word for word, count in words.items() if count >= recipes.OFTEN}
    share = sum(words[word] for word in cut) / words.total()
    assert f"cuts {share:.2%} of the {words.total():,} words" in card
    assert f"of the {len(often):,} different ones that occur 50 times or more, {len(often & cut):,}." in card
    if recipes.RECIPES[name].size != "tiny":
        assert len(often & cut) <= (0.03 * len(often) if recipes.RECIPES[name].begins else 0)


COUNTED: dict[tuple[str, ...], Counter[str]] = {}  # many tokenizers split the same corpus into the same words


def counted(corpus: str, opened: PreTrainedTokenizerFast) -> Counter[str]:
    """How often each word occurs in a corpus, split as this tokenizer splits texts before it looks into its vocabulary."""
    written = json.loads(opened.backend_tokenizer.to_str())
    way = (corpus, *(json.dumps(written[part]) for part in ("normalizer", "pre_tokenizer")))
    if way not in COUNTED:
        texts = (" ".join(text) for text in recorded_corpus(corpus).texts)
        COUNTED[way] = Counter(word for text in texts for word in cut_at(opened, text))
    return COUNTED[way]


def cut_at(opened: PreTrainedTokenizerFast, text: str) -> list[str]:
    core = opened.backend_tokenizer
    plain = core.normalizer.normalize_str(text) if core.normalizer else text
    return [word for word, _ in core.pre_tokenizer.pre_tokenize_str(plain)]


def test_every_figure_of_every_card_is_on_the_page_and_the_weakest_in_the_readme() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    worst = {}
    for name in recipes.RECIPES:
        card = (ROOT / "data" / "models" / name / "CARD.md").read_text("utf-8")
        part = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
        seed = re.search(r"Shipped\s+is\s+seed\s+(\d+)", card)
        head, *rows = [line.strip("| ").split(" | ") for line in card.splitlines() if line.startswith("| ")]
        column = head.index(f"seed {seed[1]}") if seed else 1
        for figure, *values in rows:
            if figure != "seconds of training":
                title, split = re.fullmatch(r"(.+) \((validation|test)\)", figure).groups()
                line = next(line for line in part.splitlines() if line.startswith(f"| {title} |"))
                assert line.split(" | ")[("validation", "test").index(split) + 1].strip(" |") == values[column - 1].strip(
                    " |"
                ), figure
                if title.startswith("minimal pairs") and split == "validation":
                    worst[name] = min(worst.get(name, 1.0), float(values[column - 1].strip(" |")))
    readme = (ROOT / "README.md").read_text("utf-8")
    line = next(line for line in readme.splitlines() if line.startswith("- minimal pairs"))
    assert all(f" {worst[name]:.2f}," in line.partition(f"`{name}`")[2].partition(";")[0] for name in models_page.ASKED)


def test_abilities_come_the_weakest_first() -> None:
    own = abilities.AbilityFigure(abilities.CardAbility("", "", 0.5), 0.75, 0.5)
    assert own.gained == 0.5 and abilities.AbilityFigure(abilities.CardAbility("", "", 0.5), 0.25, 0.5).gained == -0.5
    assert abilities.AbilityFigure(abilities.CardAbility("", "", 0.0, largest=False), 4.0, 16.0).gained == 0.5
    assert abilities.AbilityFigure(abilities.CardAbility("", "", 0.0), 55.0, 10.0).gained == 0.5, "BLEU counts to 100"
    bert = abilities.abilities_on_card(ROOT / "data" / "models" / "bert")
    card = model_cards.figures((ROOT / "data" / "models" / "bert" / "CARD.md").read_text("utf-8"))
    first = min((value[0] - 0.25) / 0.75 for name, value in card.items() if name.startswith("minimal pairs"))
    assert bert[0].gained <= first and [one.gained for one in bert] == sorted(one.gained for one in bert)
    assert {one.ability.figure for one in bert} >= {
        name.rpartition(" (")[0] for name in card if name.startswith("minimal pairs")
    }
    assert abilities.abilities_on_card(ROOT / "tests") == ()


def test_the_page_of_what_models_can_do_is_made_of_the_cards() -> None:
    assert (ROOT / "docs" / "models.md").read_text("utf-8") == models_page.page()
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme == filled(readme, "models", models_page.in_short()) and models_page.in_short().count("\n") == 4
    text = models_page.ability_table(models_page.CardAbility("x", "bleu", "copying the source, bleu"), ["bart", "bert"])
    card = model_cards.figures((ex.models()["bart"].folder / "CARD.md").read_text("utf-8"))
    assert card["bleu (validation)"][0] > 10 + card["copying the source, bleu (validation)"][0]  # so it is bold
    assert card["bleu (test)"][0] < 10 + card["copying the source, bleu (test)"][0]  # and this is not
    assert text.count("**") == 2 and f"**{card['bleu (validation)'][0]:.3f}**" in text and "bart" in text and "bert" not in text
