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
    held: Candidate
    best: bool
    ids: tuple[int, ...]


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
        grown = {held.beam: (*texts[held.parent], held.id) for held in step.candidates if held.beam >= 0}
        for n, held in sorted(enumerate(step.candidates), key=lambda one: (one[1].fate != "finished", -one[1].total)):
            if held.beam >= 0:
                row = held.beam * height
            else:
                used[held.parent] = used.get(held.parent, 0) + 1
                if used[held.parent] > pruned and held.fate != "finished" and best.get(step.step) != n:
                    continue
                row = held.parent * height + min(used[held.parent], pruned + LAST) + 0.5 * _lower(step.step)
            ids = (*texts[held.parent], held.id)
            nodes.append(Node(step.step, row, held.parent * height, held, best.get(step.step) == n, ids))
        texts = grown
    return nodes


def _lower(step: int) -> bool:
    """Whether names are lower in the column of this step."""
    return step % 2 == 0


def best_path(steps: Sequence[DecodingStep]) -> dict[int, int]:
    """The number of the candidate, at each step, that the winning text went through."""
    ids, found = steps[-1].ids.tolist(), {}
    beams = {0}
    for step, wanted in zip(steps, ids, strict=False):
        through = [
            n
            for n, c in enumerate(step.candidates)
            if c.parent in beams and c.id == wanted and (c.beam >= 0 or c.fate == "finished")
        ]
        if not through:
            break
        found[step.step] = through[0]
        beams = {step.candidates[n].beam for n in through}
    return found


def _edges(nodes: Sequence[Node]) -> list[go.Scatter]:
    """The lines from parents to children: pruned ones dotted, the best one thick."""
    kinds = (
        ("pruned", PRUNED, {"width": 1, "dash": "dot"}, [n for n in nodes if n.held.beam < 0 and not n.best and n.held.fate != "finished"]),
        ("goes on", KEPT, {"width": 2}, [n for n in nodes if (n.held.beam >= 0 or n.held.fate == "finished") and not n.best]),
        ("the best text", BEST, {"width": 5}, [n for n in nodes if n.best]),
    )  # fmt: skip
    made = []
    for name, colour, line, held in kinds:
        x = [value for node in held for value in (node.step, node.step + 1, node.step + 1)]
        y = [value for node in held for value in (node.parent_row, node.row, np.nan)]
        made.append(
            go.Scatter(
                x=x, y=y, mode="lines", line=line, name=name, meta=colour, hoverinfo="skip", opacity=0.75, showlegend=bool(held)
            )
        )
    return made


def _points(nodes: Sequence[Node], steps: Sequence[DecodingStep]) -> list[go.Scatter]:
    """The nodes with their tokens; the prompt is at the left."""
    kinds = (
        ("kept", KEPT, "circle", [n for n in nodes if n.held.beam >= 0]),
        ("pruned: not followed", PRUNED, "circle-open", [n for n in nodes if n.held.beam < 0 and n.held.fate not in ("kept", "finished")]),
        ("ended", FINISHED, "square", [n for n in nodes if n.held.beam < 0 and n.held.fate in ("kept", "finished")]),
    )  # fmt: skip
    start = go.Scatter(
        x=[0], y=[0], mode="markers+text", text=["prompt"], cliponaxis=False, textposition="top center", name="prompt", meta=3,
        marker={"size": 14, "symbol": "diamond"}, hovertemplate="the prompt<extra></extra>", showlegend=False,
    )  # fmt: skip
    last = {step.step: min((c.total for c in step.candidates if c.beam >= 0), default=np.nan) for step in steps}
    made = [start]
    for name, colour, symbol, held in kinds:
        goes_on = colour == KEPT
        made.append(
            go.Scatter(
                x=[node.step + 1 for node in held], y=[node.row for node in held], mode="markers+text", name=name, meta=colour,
                text=[_label(node) for node in held], textfont={"size": 14 if goes_on else 12},
                textposition=[f"{'bottom' if _lower(n.step) else 'top'} center" for n in held] if goes_on else "middle right",
                marker={"size": 8 if colour == PRUNED else 12, "symbol": symbol, "line": {"width": 2}},
                customdata=[".".join(map(str, node.ids)) for node in held], hovertext=[_hover(node, last[node.step]) for node in held],
                hovertemplate="%{hovertext}<extra></extra>", showlegend=bool(held), cliponaxis=False,
            )
        )  # fmt: skip
    return made


def _label(node: Node) -> str:
    shown = theme.visible(node.held.text) or "∅"
    return theme.label(shown if len(shown) <= SHORT else shown[: SHORT - 1] + "…")


def _hover(node: Node, last: float) -> str:
    """The hover text of a node."""
    held = node.held
    lines = [
        f"<b>{theme.label(held.text)}</b> at step {node.step}, after beam {held.parent}",
        f"log P of this token {held.logp:.3f} (P = {np.exp(held.logp):.3g})",
        f"sum along the branch {held.total:.3f}",
        _why(held, last),
    ]
    return "<br>".join(lines)


def _why(held: Candidate, last: float) -> str:
    """Why it was kept or not."""
    if held.beam >= 0:
        return f"kept as beam {held.beam}"
    if held.fate in ("finished", "kept"):
        return f"ended here, score {held.score:.3f}"
    if held.fate == "beaten":
        bar = "" if np.isnan(last) else f": the last one that was kept has {last:.3f}"
        return f"pruned{bar}"
    return f"pruned: {REASONS.get(held.fate, held.fate)}"


def branches(steps: Sequence[DecodingStep]) -> Mapping[str, Control]:
    """How many pruned branches of each beam are shown, and which step is the first one shown."""
    return {
        "pruned": Range("Pruned branches shown", 0, 4, 1),
        "begin": Range("From step", 0, max(0, len(steps) - COLUMNS)),
    }


STEPS = only_many(DecodingStep, "the steps of a decoding, tuple(ex.decode(model, text, 'beam'))")
VIEWS = by_name(
    View("tree", "The tree of a search", tree, STEPS, branches),
)
