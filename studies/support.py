"""Which architectures can be shown, and how exactly: measured on tiny random models, never typed in.

`python -m studies.support` measures all and writes the table that the lesson and the documentation show.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.analysis.trace import trace
from explorer.errors import ExplorerError
from explorer.models.folders import data_folder
from explorer.models.hub.adopting import STAGES, module_outputs, weights_of
from explorer.models.hub.architectures import ARCHITECTURES, tiny
from explorer.models.hub.attending import attending
from explorer.models.hub.opening import open_pair
from explorer.records import (
    Block,
    Edit,
    MovePositions,
    NoPositions,
    NoScale,
    PatchHidden,
    SilenceHead,
    SilenceLayer,
    Support,
    SupportTable,
    Trace,
)
from explorer.text.learning import tokenizer
from explorer.text.tokenizers import Tokenizer

TEXT, TARGET = "the animal did not cross the street because it was too tired", "it was tired and slept"


def words() -> Tokenizer:
    """A tokenizer that knows the words of the two texts."""
    return tokenizer("words", [TEXT, TARGET], size=64)


def table(names: Iterable[str] = tuple(ARCHITECTURES)) -> SupportTable:
    """Measure these architectures."""
    import transformers

    versions = f"transformers {transformers.__version__}, torch {torch.__version__}, Python {platform.python_version()}"
    return SupportTable(tuple(measure(name) for name in names), versions)


def measure(architecture: str) -> Support:
    """Build a tiny model of this class, trace it, and compare with what the class itself computes."""
    pieces = words()
    module = tiny(architecture, max(64, pieces.vocabulary.size))
    try:
        model = open_pair(module, pieces)
    except ExplorerError as error:
        return Support(architecture, "refused", reason=str(error))
    both = model.family == "encoder-decoder"
    traced = trace(model, TEXT, target=TARGET if both else None, blocks=not model.without_blocks)
    weights, logits, states = alone(module, traced)
    first = next(iter(weights))
    edits: list[Edit] = [SilenceHead(first), NoScale(first), SilenceLayer(first), MovePositions(first, np.arange(len(traced.source))),
                         NoPositions(first), PatchHidden(first, 0, 0, traced)]  # fmt: skip
    return Support(
        architecture,
        model.adopted.way,
        model.family,
        tuple(model.streams),
        weights=gap((a.weights, weights[a.stream][a.layer]) for a in traced.attention),
        outputs=gap([(next(iter(traced.outputs.values())), logits)]),
        residual=traced.residual,
        states=all(
            len(traced.hidden.get(name, ())) == count + 1 for name, (count, _) in model.streams.items() if name != "cross"
        ),
        edits=tuple(type(edit).__name__ for edit in edits if not model.refuses(edit)),
        walk=walked(traced, states),
        without_walk=model.without_blocks,
    )


def alone(module: Any, traced: Trace) -> tuple[dict[str, list[np.ndarray]], np.ndarray, dict[str, list[np.ndarray]]]:
    """What the class itself returns for the tokens of a trace, with eager attention: weights by stream, its scores, states by stream."""
    ids = torch.tensor(traced.source.ids)[None]
    reads = None if traced.target is None else torch.tensor(traced.target.ids)[None]
    with torch.no_grad(), attending(module, "eager"):
        out = module_outputs(module, ids, reads, output_attentions=True, output_hidden_states=True)
    weights = weights_of(out, traced.family)
    logits = out["prediction_logits"] if "prediction_logits" in out else out["logits"]
    both = traced.target is not None
    names = {name: f"{name}_hidden_states" for name in ("encoder", "decoder")} if both else {traced.family: "hidden_states"}
    states = {stream: [x[0].numpy() for x in out[name]] for stream, name in names.items()}
    return {name: [w[0].numpy() for w in layers] for name, layers in weights.items()}, logits[0].numpy(), states


def walked(traced: Trace, states: dict[str, list[np.ndarray]]) -> float:
    """The largest gap of the states between layers: from each layer's sums and norms, computed again, to what the class hands out."""
    return max((_walk_gap(traced, stream, layer, own) for stream, hidden in states.items() for layer, own in enumerate(hidden[1:-1])),
               default=float("nan")) if traced.blocks else float("nan")  # fmt: skip


def _walk_gap(traced: Trace, stream: str, layer: int, own: np.ndarray) -> float:
    """The same of one layer (the class hands out the last one after a final norm, so those between are compared)."""
    x = traced.hidden[stream][layer]
    for block in (b for b in traced.blocks if (b.stream, b.layer) == (stream, layer)):
        added = block.norm_input if block.place in ("inside", "both") else block.out
        total = x + (_normed(added, block) if block.place in ("inside", "both") else added)
        x = _normed(total, block) if block.place == "post" else total
    return float(np.abs(x - own).max())


def _normed(x: np.ndarray, block: Block) -> np.ndarray:
    """(x − μ) / σ · γ + β."""
    return (x - block.mean[:, None]) / block.deviation[:, None] * block.gain + block.shift


def gap(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """The largest difference between the two of each pair."""
    return max(float(np.abs(mine - theirs).max()) for mine, theirs in pairs)


def written(measured: SupportTable) -> str:
    """The table as Markdown."""
    lines = [
        "| class | family | shown | weights | outputs | computed again | walk | states | edits |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in measured.rows:
        if row.way == "refused":
            lines.append(f"| {row.architecture} | | refused: {row.reason} | | | | | | |")
            continue
        shown, again = ("every stage", f"{row.residual:.0e}") if row.way == STAGES else ("weights only", "")
        walk = f"no: {row.without_walk}" if row.without_walk else f"{row.walk:.0e}"
        cells = (row.architecture, row.family, shown, f"{row.weights:g}", f"{row.outputs:g}", again, walk, "yes" if row.states else "no",
                 ", ".join(row.edits))  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


ABOVE = """# Architectures that open

Each row was measured on a tiny model with random weights, with {versions}: the largest differences between what a trace holds and
what the class computes with eager attention (weights, outputs), and the largest difference of weights that were computed again
from q, k and the mask. *Walk* is the largest difference between the states after a layer that follow from its sums and norms, computed
again, and those that the class hands out; the board and the walk go through every such layer.
Make the table again with `python -m studies.support`.

"""


def main() -> None:
    """Measure everything and write the table."""
    measured = table()
    folder = data_folder() / "support"
    folder.mkdir(parents=True, exist_ok=True)
    measured.write(folder / "record.npz")
    text = ABOVE.format(versions=measured.versions) + written(measured) + "\n"
    (folder / "CARD.md").write_text(text, "utf-8")
    (data_folder().parent / "docs" / "support.md").write_text(text, "utf-8") if Path("docs").is_dir() else None


if __name__ == "__main__":
    main()
