"""The tree of a search: which texts were kept, which were pruned and why, and which ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from explorer.records import Candidate, DecodingStep
from explorer.views import theme
from explorer.views.view import Control, Range, View, by_name, only_many

COLUMNS, ROW = 7, 36  # how many steps are shown at first, and how many pixels high a row is
SHORT = 10  # letters of a token on a node
BAND = 1.5  # rows of a beam besides its pruned branches
LAST = 0.6  # how far below them are nodes that are shown in spite of the limit
KEPT, PRUNED, BEST, FINISHED = 0, 6, 1, 2  # numbers of colours
REASONS = {
    "not drawn": "it could have been sampled, but another token was",
    "forced-out": "another token was forced here",
    "cut:no_repeat": "it would have repeated an n-gram",
    "cut:among": "it is not among the tokens allowed",
    "cut:top_k": "it is not among the k most probable tokens (top k)",
    "cut:top_p": "more probable tokens already reached the probability p (top p)",
    "cut:min_p": "it is less probable than min p times the probability of the first (min p)",
    "cut:typical_p": "its −log P is too far from the entropy (typical p)",
}


@dataclass(frozen=True)
class Node:
    """A candidate on the screen: its column and row, where it hangs, whether it lies on the best path, and its text as ids."""

    step: int
    row: float
    parent_row: float
    candidate: Candidate
    best: bool
    ids: tuple[int, ...]

    @property
    def goes_on(self) -> bool:
        """Whether it was followed, or ended a text."""
        return self.candidate.beam >= 0 or self.candidate.fate == "finished"


def tree(steps: Sequence[DecodingStep], *, pruned: int, begin: int) -> go.Figure:
    """Each column is a step, each node a token; read from the left. Filled circles with a line were kept: the best beam is on top,
    and a line leads back to the text that it continues. Hollow circles on dotted lines were pruned. A square is a finished text. The
    thick line is the final text.

    Point at a node for its log-probability, the sum along its branch, and why it was kept or pruned. Drag to move along, zoom with
    the buttons above the picture.

    You may conclude which texts this search compared, and that each was judged by its sum so far. You may not conclude that a pruned
    branch would have been worse in the end: it was not continued. Nor that the most probable text of all is among them.
    """
    nodes = placed(steps, pruned)
    final = steps[-1]
    notes = (
        f"{final.strategy}: {_beams(steps)}, {len(steps)} steps, {sum(step.considered for step in steps):,} tokens compared",
        f"best: log P = {float(np.sum(final.chosen)):.2f} over {len(final.ids)} tokens; stopped: {final.stopped or 'not yet'}",
    )
    figure = go.Figure([*_edges(nodes), *_points(nodes, steps)])
    rows = max((node.row for node in nodes), default=0.0) + 1
    return figure.update_layout(
        title=theme.title("What the search kept, and what it pruned", *notes),
        xaxis={
            "title": "step", "range": [begin - 0.6, begin + min(len(steps), COLUMNS) + 0.7], "showgrid": False, "dtick": 1,
            "fixedrange": False,  # a long search is moved along
        },
        yaxis={"visible": False, "range": [rows + 0.2, -0.9], "fixedrange": False},
        dragmode="pan", height=max(ROW * (rows + 1.5), 200),
    )  # fmt: skip


def _beams(steps: Sequence[DecodingStep]) -> str:
    most = max(int((step.beams >= 0).sum()) for step in steps)
    return "1 text at a time" if most <= 1 else f"up to {most} beams"


def placed(steps: Sequence[DecodingStep], pruned: int) -> list[Node]:
    """Every node that is shown. A beam has a band of rows: itself on top, below it what its parent of that band did not keep.

    In every second column pruned tokens are half a row lower, and the names of beams below their nodes: so a name has the space of
    two columns, and no name covers another, even on a phone.
    """
    best = best_path(steps)
    height = BAND + pruned
    nodes = []
    texts: dict[int, tuple[int, ...]] = {0: ()}
    for step in steps:
        used: dict[int, int] = {}
        grown = {
            candidate.beam: (*texts[candidate.parent], candidate.id) for candidate in step.candidates if candidate.beam >= 0
        }
        for n, candidate in sorted(
            enumerate(step.candidates), key=lambda entry: (entry[1].fate != "finished", -entry[1].total)
        ):
            if candidate.beam >= 0:
                row = candidate.beam * height
            else:
                used[candidate.parent] = used.get(candidate.parent, 0) + 1
                if used[candidate.parent] > pruned and candidate.fate != "finished" and best.get(step.step) != n:
                    continue
                row = candidate.parent * height + min(used[candidate.parent], pruned + LAST) + 0.5 * _lower(step.step)
            ids = (*texts[candidate.parent], candidate.id)
            nodes.append(Node(step.step, row, candidate.parent * height, candidate, best.get(step.step) == n, ids))
        texts = grown
    return nodes


def _lower(step: int) -> bool:
    """Whether names are lower in the column of this step."""
    return step % 2 == 0


def best_path(steps: Sequence[DecodingStep]) -> dict[int, int]:
    """The number of the candidate, at each step, that the winning text went through."""
    ids, path = steps[-1].ids.tolist(), {}
    beams = {0}
    for step, wanted in zip(steps, ids, strict=False):
        through = [
            n
            for n, c in enumerate(step.candidates)
            if c.parent in beams and c.id == wanted and (c.beam >= 0 or c.fate == "finished")
        ]
        if not through:
            break
        path[step.step] = through[0]
        beams = {step.candidates[n].beam for n in through}
    return path


def _edges(nodes: Sequence[Node]) -> list[go.Scatter]:
    """The lines from parents to children: pruned ones dotted, the best one thick."""
    others = [node for node in nodes if not node.best]
    kinds = (
        ("pruned", PRUNED, {"width": 1, "dash": "dot"}, [node for node in others if not node.goes_on]),
        ("goes on", KEPT, {"width": 2}, [node for node in others if node.goes_on]),
        ("the best text", BEST, {"width": 5}, [node for node in nodes if node.best]),
    )
    traces = []
    for name, colour, line, drawn in kinds:
        x = [value for node in drawn for value in (node.step, node.step + 1, node.step + 1)]
        y = [value for node in drawn for value in (node.parent_row, node.row, np.nan)]
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line=line,
                name=name,
                meta=colour,
                hoverinfo="skip",
                opacity=0.75,
                showlegend=bool(drawn),
            )
        )
    return traces


def _points(nodes: Sequence[Node], steps: Sequence[DecodingStep]) -> list[go.Scatter]:
    """The nodes with their tokens; the prompt is at the left."""
    others = [node for node in nodes if node.candidate.beam < 0]
    kinds = (
        ("kept", KEPT, "circle", [node for node in nodes if node.candidate.beam >= 0]),
        ("pruned: not followed", PRUNED, "circle-open", [n for n in others if n.candidate.fate not in ("kept", "finished")]),
        ("ended", FINISHED, "square", [n for n in others if n.candidate.fate in ("kept", "finished")]),
    )
    start = go.Scatter(
        x=[0], y=[0], mode="markers+text", text=["prompt"], cliponaxis=False, textposition="top center", name="prompt", meta=3,
        marker={"size": 14, "symbol": "diamond"}, hovertemplate="the prompt<extra></extra>", showlegend=False,
    )  # fmt: skip
    last = {step.step: min((c.total for c in step.candidates if c.beam >= 0), default=np.nan) for step in steps}
    traces = [start]
    for name, colour, symbol, drawn in kinds:
        goes_on = colour == KEPT
        traces.append(
            go.Scatter(
                x=[node.step + 1 for node in drawn], y=[node.row for node in drawn], mode="markers+text", name=name, meta=colour,
                text=[_label(node) for node in drawn], textfont={"size": 14 if goes_on else 12},
                textposition=[f"{'bottom' if _lower(n.step) else 'top'} center" for n in drawn] if goes_on else "middle right",
                marker={"size": 8 if colour == PRUNED else 12, "symbol": symbol, "line": {"width": 2}},
                customdata=[".".join(map(str, node.ids)) for node in drawn], hovertext=[_hover(node, last[node.step]) for node in drawn],
                hovertemplate="%{hovertext}<extra></extra>", showlegend=bool(drawn), cliponaxis=False,
            )
        )  # fmt: skip
    return traces


def _label(node: Node) -> str:
    if node.candidate.fate == "finished":
        return ""  # its square says that the text ended
    shown = theme.visible(node.candidate.text) or "∅"
    return theme.label(shown if len(shown) <= SHORT else shown[: SHORT - 1] + "…")


def _hover(node: Node, last: float) -> str:
    """The hover text of a node."""
    candidate = node.candidate
    lines = [
        f"<b>{theme.label(candidate.text)}</b> at step {node.step}, after beam {candidate.parent}",
        f"log P of this token {candidate.logp:.3f} (P = {theme.percent(float(np.exp(candidate.logp)))})",
        f"sum along the branch {candidate.total:.3f}",
        _why(candidate, last),
    ]
    return "<br>".join(lines)


def _why(candidate: Candidate, last: float) -> str:
    """Why it was kept or not."""
    if candidate.beam >= 0:
        return f"kept as beam {candidate.beam}"
    if candidate.fate in ("finished", "kept"):
        return f"ended here, score {candidate.score:.3f}"
    if candidate.fate == "beaten":
        bar = "" if np.isnan(last) else f": the last one that was kept has {last:.3f}"
        return f"pruned{bar}"
    return f"pruned: {REASONS.get(candidate.fate, candidate.fate)}"


def branches(steps: Sequence[DecodingStep]) -> Mapping[str, Control]:
    """How many pruned branches of each beam are shown, and which step is the first one shown."""
    return {"pruned": Range("Pruned branches shown", 0, 4, 1), "begin": Range("From step", 0, max(0, len(steps) - COLUMNS))}


STEPS = only_many(DecodingStep, "the steps of a decoding, tuple(ex.decode(model, text, 'beam'))")
VIEWS = by_name(View("tree", "The tree of a search", tree, STEPS, branches))
