"""The lesson about decoding: its views against their records, its questions, and going on with a token that was chosen."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from conftest import quickest
from opening import opened
from typer.testing import CliRunner

import explorer as ex
from explorer.app import controls
from explorer.app.lessons.decoding import parts
from explorer.app.lessons.decoding import questions as lesson
from explorer.cli import cli
from explorer.decoding.comparison import distribution, written
from explorer.decoding.generation_trace import watch
from explorer.models.transformer import TransformerModel
from explorer.records import CUTS, Contest, softmax
from explorer.views import VIEWS
from explorer.views.tree import best_path, placed
from explorer.views.writing import SHOWN

ROOT = Path(__file__).parent.parent


def test_the_tree_draws_every_beam_and_its_thick_line_is_the_answer(gpt2: TransformerModel) -> None:
    steps = tuple(ex.decode(gpt2, "The dog", "beam", beams=3, max_tokens=5))
    nodes = placed(steps, 2)
    kept = {(c_step.step, c.beam) for c_step in steps for c in c_step.candidates if c.beam >= 0}
    assert {(node.step, node.candidate.beam) for node in nodes if node.candidate.beam >= 0} == kept
    assert [steps[step].pieces[n] for step, n in best_path(steps).items()] == steps[-1].ids.tolist()
    thick = next(trace for trace in VIEWS["tree"](steps).data if trace.name == "the best text")
    assert len(thick.x) == 3 * len(steps[-1].ids)
    for node in nodes:
        assert sum(node.ids[-1:]) == node.candidate.id and len(node.ids) == node.step + 1
    texts = [text for trace in VIEWS["tree"](steps).data for text in trace.hovertext or ()]
    assert any(f"sum along the branch {node.candidate.total:.3f}" in text for node in nodes for text in texts)


def boxes(figure: go.Figure, width: float) -> list[tuple[str, float, float, float, float]]:
    """Where each name of a tree lies on a screen so wide, in pixels: left, right, top, bottom; a letter is 0.6 of its size wide."""
    layout, boxes_found = figure.layout, []
    across, down = layout.xaxis.range, layout.yaxis.range
    sides, high = layout.margin.l + layout.margin.r, layout.height - layout.margin.t - layout.margin.b
    for trace in (drawn for drawn in figure.data if drawn.mode == "markers+text"):
        sits = trace.textposition if isinstance(trace.textposition, tuple) else [trace.textposition] * len(trace.x)
        size = trace.textfont.size or 14
        for x, y, text, where in zip(trace.x, trace.y, trace.text, sits, strict=True):
            wide, gap = 0.6 * size * len(html.unescape(text)), trace.marker.size / 2 + 1
            at = (x - across[0]) / (across[1] - across[0]) * (width - sides)
            level = (y - down[1]) / (down[0] - down[1]) * high
            left = at + gap if where == "middle right" else at - wide / 2
            middle = level + {"top": -1, "middle": 0, "bottom": 1}[where.split()[0]] * (gap + size / 2)
            boxes_found.append((text, left, left + wide, middle - size / 2, middle + size / 2))
    return boxes_found


def overlaps(places: list[tuple[str, float, float, float, float]]) -> list[tuple[str, str]]:
    return [
        (item[0], other[0])
        for n, item in enumerate(places)
        for other in places[n + 1 :]
        if item[1] < other[2] and other[1] < item[2] and item[3] < other[4] and other[3] < item[4]
    ]


@pytest.mark.parametrize("pruned", [0, 2, 4])
def test_no_name_of_a_tree_lies_on_another_on_a_telephone(pruned: int, gpt2: TransformerModel) -> None:
    steps = tuple(ex.decode(gpt2, "Anna had a white animal.", "beam", beams=5, max_tokens=40))
    assert quickest(lambda: VIEWS["tree"](steps, pruned=pruned)) < 0.5, "a long tree is drawn at once"
    boxes_found = boxes(VIEWS["tree"](steps, pruned=pruned), 390)
    assert len(steps) > 10 and len(boxes_found) > 5 * len(steps) * (1 + pruned) * 0.6 and overlaps(boxes_found) == []
    assert overlaps(boxes(VIEWS["tree"](steps, pruned=pruned), 100)), "a screen on which there is no room is noticed"


def test_the_bars_are_the_shares_and_the_line_lies_at_the_cut(gpt2: TransformerModel) -> None:
    record = distribution(gpt2, "The dog was")
    figure = VIEWS["next-piece"](record, temperature=1.6, top_k=5)
    drawn, cut = figure.data[0], figure.data[1]
    np.testing.assert_allclose([*drawn.x, *cut.x], softmax(record.scores / 1.6)[:SHOWN])
    assert len(drawn.x) == 5 and figure.data[2].y[0] == 4.5
    for name, value in zip(CUTS, (3, 0.5, 0.2, 0.5), strict=True):
        left = (record.cut(1.0, **{name: value})[1] == 0).sum()
        assert f"{left:,} of {len(record.ids):,} tokens" in " ".join(
            VIEWS["next-piece"](record, **{name: value}).layout.title.text.split()
        )


@pytest.mark.parametrize("name", ["gpt", "gpt2", "llama"])
@pytest.mark.parametrize("prefix", [(), (5, 9)])
def test_the_board_under_the_bars_is_the_pass_that_they_come_from(name: str, prefix: tuple[int, ...]) -> None:
    text = lesson.PROMPT
    bars = controls.result_of(parts.distribution(name, text, prefix))
    top = controls.result_of(parts.passed(name, text, prefix)).top
    assert top.ids[-1].tolist() == bars.ids[: top.ids.shape[1]].tolist()
    np.testing.assert_allclose(np.exp(top.logp[-1]), softmax(bars.scores)[: top.ids.shape[1]], rtol=1e-4)


def test_the_growing_matrix_and_the_cache_count_what_was_computed(gpt2: TransformerModel) -> None:
    record = watch(gpt2, "The dog was", max_tokens=5)
    begin = record.rows[1]
    shown = np.asarray(VIEWS["growing"](record, step=0).data[0].z)
    assert np.isnan(shown[begin:]).all() and np.isfinite(shown[:begin].diagonal()).all()
    cells = np.asarray(VIEWS["cache"](record).data[0].z)
    assert [(row == 1).sum() for row in cells] == [step.computed for step in record.steps]
    assert [(row == 0.35).sum() for row in cells] == pytest.approx([step.reused for step in record.steps])


def test_the_questions_are_answered_by_the_records(gpt2: TransformerModel) -> None:
    text, record = written(gpt2, "The dog", "greedy", "greedy", max_tokens=6), distribution(gpt2, "The dog")
    steps, seen = tuple(ex.decode(gpt2, "The dog", "beam", beams=2, max_tokens=6)), watch(gpt2, "The dog", max_tokens=6)
    question = lesson.exercises(text, record, steps, seen)
    assert question[0].right(f"{np.log(np.exp(text.logp[0]) * np.exp(text.logp[1])):.2f}")
    assert question[1].right(str(int((np.cumsum(record.shares) < 0.9).sum()) + 1))
    prompt = seen.rows[1]
    assert question[4].right(str(sum(range(prompt, prompt + 6))))
    assert lesson.next_question(record).right(gpt2.tokenizer.text_of(int(np.argmax(gpt2.logits(gpt2.tokens("The dog"))[-1]))))
    totals = np.array([[-9, -9], [-2, -3], [-1, -4.0]])
    first = Contest("m", ("as it was written", "greedy", "beam 5"), ("a", "b"), (("", "", ""),) * 2, totals)
    assert lesson.beam_question(first).right("for some, at most half")
    question = lesson.beam_question(replace(first, totals=totals[[0, 2, 1]]))
    assert "For how many of these 2 prompts" in question.question and not any(
        "one of the beams" in option for option in question.options
    )


@pytest.mark.usefixtures("unfolded")
def test_a_chosen_piece_is_kept_in_the_address_and_branches_the_tree() -> None:
    at = opened("decoding", path="7")
    assert not at.exception and any("Your text" in block.value for block in at.markdown)
    next(button for button in at.button if button.key == "force.1").click().run()
    assert not at.exception
    code = next(block.value for block in at.code if "'beam'" in block.value and "force" in block.value)
    assert "force={0: 7, 1:" in code


def test_the_command_line_writes_too(gpt2: TransformerModel) -> None:
    text = CliRunner().invoke(
        cli, ["decode", "gpt2", "The dog", "--strategy", "sample", "--seed", "3", "--set", "max_tokens=4", "--json"]
    )
    *_, final = ex.decode(gpt2, "The dog", "sample", seed=3, max_tokens=4)
    assert text.exit_code == 0 and json.loads(text.stdout)["steps"][-1] == final.text


def test_the_contest_counts_prompts_and_gives_no_percentage_of_a_few() -> None:
    totals = np.array([[-9.0] * 4, [-5.0, -4.0, -3.0, -2.0], [-5.0, -1.0, -2.0, -3.0]])
    record = Contest("m", ("as it was written", "greedy", "beam 5"), ("a",) * 4, (("a", "b", "c"),) * 4, totals)
    text = VIEWS["contest"](record).layout.title.text
    assert "beam 5: above greedy for 2, below it for 1" in text.replace("<br>", " ") and "%" not in text
