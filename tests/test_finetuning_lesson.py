"""Lesson 10: tags in a row, tasks as text, and the layer probes, against what the library and a formula say."""

from __future__ import annotations

import re
from collections import Counter
from typing import cast

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened

import explorer as ex
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import questions as lesson
from explorer.app.lessons.finetuning import slide_examples, writing
from explorer.records import FinetuneWays
from explorer.training.finetune.derived import EVERY_TASK
from explorer.views import VIEWS
from explorer.views.spoken import spoken
from studies import finetuned


@LONG
@pytest.mark.parametrize(("task", "group", "offered"), [("sentiment", "tuned", False), (lesson.TAGGED, "tagged", True)])
def test_tags_in_a_row_are_a_way_for_entities_alone(task: str, group: str, offered: bool) -> None:
    at = opened("finetuning", part="train", task__tuned=task)
    assert not at.exception and (lesson.CRF in at.button_group(key=f"ways.{group}").options) == offered
    assert any("Viterbi" in block.value for block in at.markdown) == offered


GIVEN = {"examples": 8, "steps": 2}


@pytest.fixture(scope="module")
def trained() -> FinetuneWays:
    """Two ways to tag, trained a little."""
    return cast(FinetuneWays, lab.ways("bert", lesson.TAGGED, ("full", lesson.CRF), GIVEN).run())


@LONG
def test_the_crf_way_has_the_weights_of_a_chain_of_tags(trained: FinetuneWays) -> None:
    """K² for what follows what and 2 K for both ends, and they move."""
    tags = len(trained.tags)
    assert trained.ways == ("full", lesson.CRF) and trained.weights[1] - trained.weights[0] == tags**2 + 2 * tags
    assert trained.moved[1] > trained.moved[0]


@LONG
def test_the_picture_of_a_chain_holds_the_scores_that_its_probabilities_are_made_of(trained: FinetuneWays) -> None:
    """P of a row of two tags, summed by hand over all K² rows of the table, is that of the model that was trained in the same way."""
    model = ex.training.finetuned_model("bert", task=lesson.TAGGED, head="crf", device="cpu", **GIVEN)
    table, tags = trained.transitions[lesson.CRF].astype(float), model.output.labels
    assert list(trained.transitions) == [lesson.CRF] and trained.tags == tags and table.shape == (len(tags) + 1, len(tags) + 1)
    scores = table[0, :-1, None] + table[1:, :-1] + table[None, 1:, -1]
    by_hand = np.log(np.exp(scores).sum()) - scores
    chain, empty = model.layer.chain, torch.zeros(2, len(tags))
    for a, b in np.ndindex(scores.shape):
        assert chain.loss(empty, torch.tensor([a, b])).item() == pytest.approx(by_hand[a, b], abs=1e-5)
    figure = VIEWS["tag-transitions"](trained)
    drawn = np.asarray(figure.data[0].z, float)
    assert np.isnan(drawn[0, -1]) and np.isnan(drawn).sum() == 1, "a text has a word: its end never follows its begin"
    np.testing.assert_allclose(drawn, table, atol=1e-6)
    assert (*figure.layout.yaxis.ticktext[1:],) == (*figure.layout.xaxis.ticktext[:-1],) == tags
    plain = lab.ways("bert", lesson.TAGGED, ("frozen",), GIVEN | {"steps": 1}).run()
    assert not plain.transitions and "conditional random field" in VIEWS["tag-transitions"].fits(plain)


@pytest.mark.parametrize("task", ["summary", "entailment"])
def test_what_is_read_and_written_is_the_task_itself(task: str) -> None:
    rows, labelled = writing.given(task), EVERY_TASK[task].make(writing.SHOWN, "train")
    assert [row["it has to write"].replace("\\", "") for row in rows] == list(labelled.labels[: writing.SHOWN])
    assert rows[0]["it reads"].replace("\\", "").startswith(labelled.texts[0])


def test_the_baselines_of_a_summary_are_the_f1_of_shared_words() -> None:
    labelled = EVERY_TASK["summary"].make(lab.ASKED, "test")

    def f1(*texts: str) -> float:
        plain = (re.sub(r"[^\w\s]", "", text.lower()) for text in texts)
        a, b = (Counter(re.sub(r"\b(a|an|the)\b", " ", text).split()) for text in plain)
        return 2 * (a & b).total() / (a.total() + b.total())

    gold = list(labelled.labels)
    firsts = [labelled.texts[example.places[0].text].split(". ")[0] + "." for example in labelled.examples]
    wanted = [np.mean(list(map(f1, expected, gold))) for expected in (firsts, gold[1:] + gold[:1])]
    np.testing.assert_allclose(writing.beginnings(), wanted, atol=1e-9)


@LONG
def test_tasks_as_text_are_offered_for_the_encoder_decoders() -> None:
    at = opened("finetuning", part="as-text")
    assert not at.exception and not at.warning and "it has to write" in at.table[0].value.columns
    assert at.selectbox("writer").options == ["bart", "t5"]
    trained = lab.ways("t5", "sentiment", ("full",), {"examples": 8, "steps": 1}).run()
    assert set(trained.answers[0]) <= {"glad", "sad", "neither"}


def test_the_tables_of_the_decks_have_their_numbers_and_what_is_worked_out_follows() -> None:
    table = lesson.gpt_table()
    assert "| GPT, fine-tuned | 82.1 | 81.4 | 89.9 | 88.3 | 88.1 | 56.0 |" in table
    gains = ("+1.5", "+1.3", "+0.6", "+5.0", "+5.8", "-5.7")  # by hand, from the slide
    assert f"| {' | '.join(gains)} |" in table and "better on 5 of these 6" in table
    glue = lesson.glue()
    assert "| BERT large | 86.7 | 85.9 | 72.1 | 91.1 | 94.9 | 60.5 | 86.5 | 89.3 | 70.1 | 81.9 |" in glue
    assert "the averages are then OpenAI GPT 75.1 (here 75.2), BERT large 82.1 (here 81.9)." in glue
    assert all(max(row[n] for row in lesson.GLUE) == lesson.GLUE[-1][n] for n in range(1, 11)), (
        "BERT large is best on every task"
    )
    assert "BERT base 90.5 (here 90.1)" in glue and all(len(row) == len(lesson.COLUMNS) + 1 for row in lesson.GLUE)
    for _, *columns, mean in lesson.GLUE:
        assert np.mean(columns) == pytest.approx(mean, abs=0.06)


@LONG
def test_examples_of_the_slides_are_read_as_bert_reads_them_and_judged_by_models_that_are_there() -> None:
    rows = [slide_examples.row(*example) for example in slide_examples.EXAMPLES]
    snow, chicago = (next(row for row in rows if word in row["text"]) for word in ("snow", "Chicago"))
    reads = snow["bert reads"].replace("\\", "")
    assert reads.startswith("[CLS]") and reads.count("[SEP]") == 2 and "†" in chicago["bert reads"]
    gpt2 = ex.load("gpt2", device="cpu")
    for text, row in (("The wagon rumbled down the road.", rows[3]), ("The car honked down the road.", rows[4])):
        assert row["gpt2: loss per token"] == f"{float(ex.analysis.text_losses(gpt2, (text,))[0]):.2f}"
        assert row["t5-tasks writes"] in ("acceptable", "not acceptable"), row


@LONG
def test_the_lectures_pairs_and_names_are_asked_of_models_that_learn_entailment_and_entities_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slide_examples, "LEARNED", (24, 3))
    at = opened("finetuning", part="examples", text__tagged="Anna slept in Paris.")
    assert len(at.table) == 1, "before anybody trained"
    at.button(key="examples.entailment").click().run()
    at.button(key="examples.entities").click().run()
    assert not at.exception and not at.warning
    learned, tagger = (lab.tuned("bert", task, 24, 3).run() for task in ("entailment", "entities"))
    rows = at.table[1].value.to_dict("records")
    pairs = [slide_examples.OWN, *(texts for _, task, texts, _ in slide_examples.EXAMPLES if task == slide_examples.ENTAILMENT)]
    assert len(rows) == len(pairs) == 4 and rows[1]["text"].endswith("†") and not rows[0]["text"].endswith("†")
    for row, answer in zip(rows, learned.classify(pairs), strict=True):
        shares = {label: float(row[label]) for label in learned.output.labels}
        assert answer == max(shares, key=shares.__getitem__) and sum(shares.values()) == pytest.approx(1, abs=0.02)
    (tags,) = tagger.classify(["Anna slept in Paris."])
    assert any(" ".join(f"{word} **{tag}**" for word, tag in tags) in block.value.replace("\\", "") for block in at.markdown)


@LONG
def test_a_bert_that_learned_entities_takes_the_lecture_s_chicago_for_no_name() -> None:
    learned = lab.tuned("bert", "entities", *slide_examples.LEARNED).run()
    chicago = slide_examples.EXAMPLES[-1][2][0]
    assert "Chicago" in [chicago[slice(*span)] for span in learned.tokens(chicago).unseen_spans]
    assert dict(learned.classify([chicago])[0])["Chicago"] == "O"
    assert dict(learned.classify(["Anna slept in Paris."])[0])["Anna"] == "B-PER"


def test_what_is_trained_here_opens_with_a_recorded_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "trained", lambda call, doing: pytest.fail(f"nobody asked for it: {doing}"))
    at, ways, size = opened("finetuning", part="train"), cast(FinetuneWays, ex.result("finetuned")), finetuned.SIZE
    assert not at.exception and at.get("plotly_chart")[0].proto.alt == spoken(VIEWS["finetune-ways"](ways))
    said = " ".join(block.value for block in (*at.markdown, *at.caption))
    assert f"A recorded run: {ways.model}, {ways.task}; {size.examples} labelled" in said, "the settings of that run are said"
    chosen = [at.select_slider(f"{name}.tuned").value for name in ("labelled", "steps")]
    assert (*chosen, at.selectbox("task.tuned").value, ways.ways) == (size.examples, size.steps, size.task, lab.USUAL)
