"""What the pages of lessons 7 to 14 say, against the shipped models, their cards and the records."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from transformers import BertConfig, BertForPreTraining

import explorer as ex
from explorer.app.controls import made
from explorer.app.lessons import LESSONS
from explorer.app.lessons.corruption import parts as corruption_parts
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as decoding
from explorer.app.lessons.elmo import parts as elmo_parts
from explorer.app.lessons.elmo import questions as elmo
from explorer.app.lessons.training import data_questions as texts
from explorer.app.lessons.training import parts, systems
from explorer.app.lessons.training import questions as training
from explorer.app.lessons.whatif import questions as whatif
from explorer.app.prose import prose
from explorer.corruption.choosing import written_words
from explorer.models.card_figures import shipped_figures
from explorer.models.transformer import TransformerModel
from explorer.records import Damage, TrainingStep
from explorer.records.answering import HINTS
from explorer.training.finetune.features import features
from explorer.training.finetune.task import LabelledExample, Questions, TokenPosition
from explorer.training.interpolation import fresh
from explorer.views import VIEWS
from studies.blank_pairs import BlankPairsSize, how

RUNS = {name: path for name, held in ex.models().items() if (path := held.folder / "run.json").is_file()}


def test_the_page_says_so_where_bert_is_wrong(bert: TransformerModel) -> None:
    guess = ex.guess(bert, ex.hide(corruption.STORY, ["tired"], tokenizer=bert.tokenizer))
    place = int(guess.corruption.scored.argmax())
    assert guess.texts[place][0] != "tired", "the shipped BERT finds another word that fits"
    assert "wrong here" not in prose("corruption")("another token") and "not always wrong" in prose("corruption")(
        "another token"
    )
    assert prose("corruption")("another token") in corruption.guess_question(guess, place).why
    assert "over 1 predicted token," in re.sub("</span><br><span[^>]*>", " ", VIEWS["surprises"](guess).layout.title.text)
    milk = ex.guess(bert, ex.hide(corruption.STORY, [corruption.HIDDEN], tokenizer=bert.tokenizer))
    place = int(milk.corruption.scored.argmax())
    asked = corruption.guess_question(milk, place)
    assert asked.answer == corruption.HIDDEN and prose("corruption")("another token") not in asked.why, (
        "the word that is hidden first is found"
    )
    words = written_words(bert.tokens(corruption.STORY), bert.tokenizer)
    assert list(words)[corruption_parts.first_hidden(list(words))] == corruption.HIDDEN
    for text, blank in zip(corruption.PRESETS.values(), corruption.BLANKED, strict=True):
        written = list(written_words(bert.tokens(text), bert.tokenizer))
        assert written[corruption_parts.first_hidden(written)].lower() == blank, (
            "what is hidden first is the blank of the lecture"
        )


def test_the_hint_of_an_exercise_is_english() -> None:
    assert HINTS == {0: "a whole number", 1: "a number, one decimal"}


def test_figures_of_systems_are_those_of_the_card_of_the_shipped_seed() -> None:
    bert, electra = (shipped_figures(ex.models()[name].folder) for name in ("bert", "electra"))
    assert (bert["nsp accuracy"], bert["nsp, shared-name rule"], electra["replaced f1"]) == (0.764, 0.540, 0.655)
    rows = [{"asked to": "classify", "answers": "the second follows the first: 9%"}]
    assert "76.4%" in training.classify_note(rows, bert) and "wrong" in training.classify_note(rows, {})
    assert not training.classify_note([{"asked to": "classify", "answers": "(not possible: …)"}], bert)
    assert "84%" in training.longer(bert)
    shipped = sum(part.numel() for part in ex.load("bert", device="cpu").module.parameters())
    measured = ex.result("objectives")
    assert "larger and trained longer" in training.longer(bert) and shipped > 4 * measured.weights[0]


def test_a_perplexity_is_shown_for_new_words_too() -> None:
    for name in ("gpt2", "llama", "olmo"):
        card = (ex.models()[name].folder / "CARD.md").read_text("utf-8")
        seed = parts.plan(ex.models()[name].folder)["seed"]
        known, new, counted = (
            float(re.findall(rf"^\| {figure} \|(.*)\|", card, re.MULTILINE)[0].split("|")[seed])
            for figure in (r"perplexity \(validation\)", r"perplexity \(test\)", r"4-gram perplexity \(test\)")
        )
        said = training.new_words(*(shipped_figures(ex.models()[name].folder, split) for split in ("validation", "test")))
        assert f"{known:.3g}" in said and f"**{new:.3g}** (4-gram {counted:.3g})" in said
        assert ("worse than counting" in said) == (new > counted)
    assert training.new_words({"perplexity": 2.0}, {}) == ""


def test_published_models_are_about_a_hundred_times_larger() -> None:
    ours = sum(part.numel() for part in ex.load("bert", device="cpu").module.parameters())
    sizes = {name: weights for name, weights, *_ in texts.SCALE}
    assert all(70 < sizes[name] / ours < 140 for name in ("GPT", "BERT base")) and 225 < 335_141_888 / ours < 275
    assert 393_000 / int(ex.result("miniglue").note.split()[0]) == pytest.approx(2000, rel=0.05)
    assert "about a hundred times" in prose("finetuning")("glue note") and "thousands" not in prose("finetuning")("glue note")


@pytest.mark.parametrize("name", sorted(parts.kept()))
def test_the_first_loss_is_explained_as_it_was(name: str) -> None:
    step = next(iter(parts.read_steps(name)))
    vocabulary = ex.load(name, device="cpu").tokenizer.vocabulary.size
    asked = training.first_question((step,), vocabulary, systems.teacher_of(name))
    if name == "distilbert":
        assert "copied" in asked.why and "random" not in asked.question and asked.answer == "far below ln |V|"
    elif name != "induction":
        assert asked.answer == f"ln |V| = {np.log(vocabulary):.2f}"
    assert ("lies above" in asked.why) == name.startswith("t5")  # it scores with large embeddings


def test_the_page_names_the_optimisers_of_the_shipped_models() -> None:
    plans = {name: json.loads(path.read_text("utf-8"))["plan"] for name, path in RUNS.items()}
    adam = {name for name, plan in plans.items() if plan["optimiser"] == "adamw"}
    assert adam == {"word2vec", "glove"} and all(plans[name]["optimiser"] == "muon" for name in set(plans) - adam)
    assert "word2vec and GloVe with AdamW alone" in prose("training")("optimisers") and "Muon" in prose("training")(
        "optimisers"
    )


def test_what_a_model_cannot_do_is_told_as_it_is() -> None:
    for name in ("bart", "t5"):
        fill = ex.analysis.abilities(ex.load(name, device="cpu"))[0]
        assert not fill.able and "[MASK]" not in fill.says and "left to right" not in fill.says


def test_new_texts_are_of_the_world_that_a_training_read() -> None:
    named = {parts.plan(folder)["corpus"]["name"]: (name, folder) for name, folder in parts.kept().items()}
    for corpus, (name, folder) in named.items():
        version = "1.1" if "-1.1" in corpus else "1.0"
        if corpus.startswith("microworld") and "+" not in corpus:
            assert fresh(parts.corpus_of(folder), 2) == list(ex.microworld.stories(2, 2, "test", version=version)), name
    texts = list(ex.microworld.stories(300, 1, version="1.1"))  # as bert read them
    each = np.mean([len(ex.load("bert", device="cpu").tokenizer.encode(" ".join(story)).ids) for story in texts])
    cost = parts.budget(parts.shelf()["bert"], 1000)
    assert cost.pieces / 1000 / 32 == pytest.approx(each, rel=0.1), "tokens of a text"
    assert fresh("english-french-1.1:9", 9) != fresh("english-french:9", 9) == fresh("english-french-1.0", 9)
    assert "never had" in training.line_note("microworld-1.1", 0.15) and "never had" not in training.line_note(
        "english-french", 0
    )


def test_a_loss_is_drawn_only_where_it_was_asked_for() -> None:
    steps = parts.read_steps("bert")
    paired = next(step.step for step in steps if step.losses["nsp"])
    planned = parts.plan(parts.shelf()["bert"])
    assert paired > planned["pairs_after"] * planned["steps"] == 18_000
    assert any("before step 18,000" in read_as for slide, _, read_as in prose("training").rows("slides") if slide == "L3, NSP")
    drawn = {line.name: line for line in VIEWS["training"](steps).data}
    for name in ("nsp", "nsp, each batch"):
        assert drawn[name].x[0] == paired and min(drawn[name].y) > 0, "a loss of 0 would be a model that is always right"
    assert drawn["nsp"].y[0] == pytest.approx(math.log(2), abs=0.1)
    assert drawn["mlm"].x[0] == drawn["sum: mlm + nsp"].x[0] == 1
    never = tuple(TrainingStep(n, {"mlm": 1.0, "nsp": 0.0}, 1.0) for n in (1, 2))
    assert not len({line.name: line for line in VIEWS["training"](never).data}["nsp"].x)


def test_the_note_on_the_line_names_its_masking_rate() -> None:
    assert parts.line_rate("bert") == 0.15 and math.isnan(parts.line_rate("gpt2"))
    assert "15%" in training.line_note("microworld", 0.15) and "never had" in training.line_note("microworld", 0.15)
    assert "masking" not in training.line_note("toy", math.nan) and "never had" not in training.line_note("toy", math.nan)


def test_a_tie_of_the_mix_is_no_gain() -> None:
    measured = ex.result("mixes")
    assert not (elmo.gained(measured) > 0).all(axis=1).any(), "for no task does the interval lie above every layer"
    asked = elmo.use_question(measured)
    assert asked.answer == "for none" and "part of speech" not in asked.why.split(".")[0]
    rows = {row.split("|")[6].split(",")[0].strip(): row for row in elmo.compared(measured).splitlines()[2:]}
    for n, task in enumerate(measured.tasks):
        _, low, high = measured.gains[n, elmo.BASE]
        assert task not in rows or ("a tie" in rows[task]) == (low <= 0 <= high), task
    assert "a tie" in rows["entailment"] and "a tie" not in rows["roles"]


def test_a_fair_baseline_of_word_senses_is_about_layer_0() -> None:
    measured, task = ex.result("mixes"), ex.tasks()["word sense"]
    n = measured.tasks.index("word sense")
    assert measured.blind[n] < 0.005 and "Layer 0" in elmo.baseline_note(measured, 0.5, 73)
    train, test = task.make(300, "train"), task.make(150, "test")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for label in train.labels:
        counts[label.split(".")[0]][label] += 1
    found = np.mean(
        [counts[word].most_common(1)[0][0] == label for label in test.labels if (word := label.split(".")[0]) in counts]
    )
    assert found == pytest.approx(measured.intervals[n, elmo.BASE, 0], abs=0.05), "about as good as words without context"
    assert elmo_parts.per_word() == (pytest.approx(found), sum(label.split(".")[0] in counts for label in test.labels))


def test_layer_0_of_a_sentence_is_the_mean_of_its_words_whatever_their_order() -> None:
    """So the bar of layer 0 is the baseline without context; the LSTM layers read the order."""
    model, text = ex.load("elmo", device="cpu"), "the old king sold a small boat"
    shuffled = "boat small a sold king old the"
    questions = Questions((text, shuffled), tuple(LabelledExample((TokenPosition(n, 0, len(text)),), "x") for n in (0, 1)))
    one, other = features(model, questions)[:, 0]
    np.testing.assert_allclose(one[0], other[0], atol=1e-5)
    assert all(np.abs(one[layer] - other[layer]).max() > 0.01 for layer in (1, 2))
    words = [
        features(model, Questions((word,), (LabelledExample((TokenPosition(0, 0, len(word)),), "x"),)))[0, 0, 0]
        for word in text.split()
    ]
    np.testing.assert_allclose(one[0], np.mean(words, axis=0), atol=1e-5)
    assert "mean of its words" in elmo.baseline_note(ex.result("mixes"), 0.5, 73)


def test_the_first_story_goes_on_as_a_story_and_a_search_finds_a_better_end() -> None:
    """What lesson 12 and its notebook open with: whole sentences about things of a story, and four tokens where greedy is caught."""
    model = ex.load("gpt2", device="cpu")
    known = set(" ".join(ex.microworld.texts(2000, 1, version="1.1")).lower().replace(".", " ").replace(",", " ").split())
    for strategy, options in (("greedy", {}), ("beam", {"beams": 4, "length_penalty": 1.0})):
        text = list(ex.decode(model, decoding.PROMPT, strategy, max_tokens=14, **options))[-1].text
        assert text.endswith(".") and text.count(".") == 1 and set(text.lower().strip(" .").replace(",", "").split()) <= known
    few = desk.few("gpt2", decoding.PROMPT)
    greedy, best = (made(call) for call in desk.everything("gpt2", decoding.PROMPT, few))
    assert len(few) == 8 and {*greedy.ids.tolist(), *best.ids.tolist()} <= set(few) and best.total > greedy.total + 0.1
    following = ex.decoding.distribution(model, decoding.PROMPT)
    assert len(desk.few("gpt2", "The dog")) == 8 and int(following.ids[0]) == few[0]
    assert desk.world_of("gpt2") == desk.world_of("t5") == {"version": "1.1"} and desk.world_of("gpt2-tiny") == {}


def test_the_default_sentence_is_translated_with_its_negation_and_its_gender() -> None:
    model = ex.load("transformer", device="cpu")

    def french(source: str) -> str:
        return list(ex.decode(model, source, "beam", beams=4, max_tokens=30))[-1].text

    assert french(decoding.SOURCE) == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    assert (
        french(decoding.SOURCE.replace("tired", "wide")) == "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    )
    assert french(decoding.SOURCE.replace("did not", "didn't")) == french(decoding.SOURCE), "as the page says"


def test_what_is_said_of_the_sum_is_its_answer() -> None:
    for whole, answer in ((1.0, "less than the sum"), (3.7, "about the sum"), (9.0, "more than the sum")):
        heads, parts = np.full((1, 4), 1.0), np.zeros((1, 1))
        asked = whatif.sum_question(Damage("m", "encoder", heads, parts, ("attention",), np.array([whole])))
        assert asked.answer == answer and whatif.ADDS[answer] in asked.why
        assert ("does not add up" in asked.why) == (answer != "about the sum")


def test_how_much_of_the_lectures_texts_is_cut() -> None:
    tokenizer, counts = ex.load("bert", device="cpu").tokenizer, [0, 0]
    for name in ("Computable", "World knowledge", "Memorised"):
        cut = Counter(word for word in tokenizer.encode(corruption.PRESETS[name]).words if word >= 0)
        counts = [counts[0] + sum(count > 1 for count in cut.values()), counts[1] + len(cut)]
    assert 0.2 < counts[0] / counts[1] < 0.5 and "cuts many of their words" in prose("corruption")("blanks")


def test_neighbouring_tokens_are_words_of_their_own() -> None:
    """The shipped BERT cuts almost no word, so no reservation about tokens of one word is made."""
    tokenizer = ex.load("bert", device="cpu").tokenizer
    cut = [tokenizer.encode(" ".join(story)).words for story in ex.microworld.stories(50, 1, "validation", version="1.1")]
    shares = [sum(a == b >= 0 for a, b in zip(words, words[1:], strict=False)) / len(words) for words in cut]
    assert np.mean(shares) < 0.01
    card = (ex.models()["bert"].folder.parent.parent / "results" / "blank-pairs" / "CARD.md").read_text("utf-8")
    assert not any("pieces of one" in said for said in (prose("decoding")("blanks: conclusion"), card, how(BlankPairsSize())))


def test_where_a_fault_acts_is_read_from_the_first_layer_that_moved() -> None:
    moved = np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.0]])
    assert "layers 0 to 1 are unchanged" in whatif.where_it_acts(moved) and "Layer 0's" in whatif.where_it_acts(moved[1:])
    assert "change already" in whatif.where_it_acts(moved[2:]) and "in or before" in whatif.where_it_acts(moved[2:])
    gone = ex.change(ex.load("bert", device="cpu"), "The dog slept.", [ex.NoPositions("encoder")])
    assert "in or before layer 0's attention" in whatif.where_it_acts(gone.downstream("encoder")), (
        "positions are added before it"
    )


def test_the_slides_are_named_with_their_lecture() -> None:
    named = {row[0] for page in ("decoding", "whatif", "yours") for row in prose(page).rows("slides")}
    assert "L1, GPT-2's sample" in named and "L0, layer norm and residuals" in named and "L2, models" in named
    assert "L2, GPT sizes" not in named, "that lecture has no perplexity"


RECORDED = {
    "corruption": ("planted",),
    "training": ("rates", "rates-senses", "signal", "left-out", "next-sentence", "masks", "rates-decoder", "sizes-decoder"),
    "elmo": ("crossed", "mixes", "tagging"),
    "finetuning": ("labels", "finetuning-rates", "miniglue"),
    "prompting": ("prompting",),
    "decoding": ("blank-pairs",),
}


@pytest.mark.parametrize("lesson", RECORDED)
def test_what_was_recorded_says_by_which_command_it_is_measured_again(lesson: str) -> None:
    """The command of the card stands on the page as well."""
    pages = "".join(path.read_text("utf-8") for path in (Path(ex.__file__).parent / "app" / "lessons" / lesson).glob("*.*"))
    for name in RECORDED[lesson]:
        card = (Path(ex.__file__).parent.parent / "data" / "results" / name / "CARD.md").read_text("utf-8")
        module = re.findall(r"studies\.(\w+)", card)[-1]
        said = (rf"studies\.{module}\b", rf"recorded\.again\([^\n]*{module}\b", rf"`explorer {module}`")
        assert re.search("|".join(said), pages), f"{name}: {module}"


@pytest.mark.usefixtures("unfolded")
def test_the_fault_is_not_the_edit_above_and_its_code_runs() -> None:
    at = AppTest.from_file(str(Path(ex.__file__).parent.parent / "app.py"), default_timeout=60)
    at.run().switch_page(str(LESSONS["whatif"].page)).run()
    fault = next(radio for radio in at.radio if radio.key == "guess.fault")
    right = next(name for name in fault.options if "feed-forward" in name)
    fault.set_value(right).run()  # what was done is shown
    codes = [block.value for block in at.code if "ex.change(" in block.value]
    for code in codes:
        compile(code, "page", "exec")
    assert "..." not in "".join(codes) and "…" not in "".join(codes)
    edits = {edit for code in codes for edit in re.findall(r"ex\.[A-Z]\w+\([^\]\n]*", code)}
    assert len(codes) >= 3 and len(edits) == 2, "one edit of the visitor's in two figures, and the fault"


def test_the_cost_of_published_trainings_follows_from_their_sizes() -> None:
    """BERT's 39.7 epochs and GPT's petaflop-day, which a slide gives as 26."""
    rows = {name: 6 * weights * tokens / texts.DAY for name, weights, tokens, _ in texts.SCALE}
    assert rows["GPT"] == pytest.approx(0.65, abs=0.01) and rows["GPT-3"] == pytest.approx(3650, rel=0.01)
    with torch.device("meta"):
        large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
        published = [BertForPreTraining(BertConfig(**shape)) for shape in ({}, large)]
    weights = {name: held for name, held, *_ in texts.SCALE}
    counted = [sum(part.numel() for part in model.parameters()) for model in published]
    assert counted == [weights["BERT base"], weights["BERT large"]]
    said = texts.at_scale(*(4_000_000, 1e6))
    assert "1e-4" in said and "four days" in said and "16 and 64 chips" in said
    assert (
        "| this one | 4,000,000 | 1,000,000 | 2.4 × 10¹³ |" in said and f"{rows['BERT base'] * texts.DAY / 2.4e13:,.0f}" in said
    )
    assert texts.labels_question().answer == "about six hundred thousand times" and "625,000" in texts.labels_question().why
