"""Which architectures can be shown, and how exactly: measured on tiny random models, never typed in.

`python -m explorer.studies.support` measures all and writes the table that the lesson and the documentation show.
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
from explorer.models.hub.adopting import STAGES, ask, attending, weights_of
from explorer.models.hub.architectures import ARCHITECTURES, tiny
from explorer.models.hub.opening import open_pair
from explorer.records import (
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
    made = trace(model, TEXT, target=TARGET if both else None)
    weights, logits = alone(module, made)
    first = next(iter(weights))
    edits: list[Edit] = [SilenceHead(first), NoScale(first), SilenceLayer(first), MovePositions(first, np.arange(len(made.source))),
                         NoPositions(first), PatchHidden(first, 0, 0, made)]  # fmt: skip
    return Support(
        architecture,
        model.adopted.way,
        model.family,
        tuple(model.streams),
        weights=gap((a.weights, weights[a.stream][a.layer]) for a in made.attention),
        outputs=gap([(next(iter(made.outputs.values())), logits)]),
        residual=made.residual,
        states=all(
            len(made.hidden.get(name, ())) == count + 1 for name, (count, _) in model.streams.items() if name != "cross"
        ),
        edits=tuple(type(edit).__name__ for edit in edits if not model.refuses(edit)),
    )


def alone(module: Any, made: Trace) -> tuple[dict[str, list[np.ndarray]], np.ndarray]:
    """What the class itself returns for the tokens of a trace, with eager attention: weights by stream, and its scores."""
    ids = torch.tensor(made.source.ids)[None]
    reads = None if made.target is None else torch.tensor(made.target.ids)[None]
    with torch.no_grad(), attending(module, "eager"):
        out = ask(module, ids, reads, output_attentions=True)
    held = weights_of(out, made.family)
    logits = out["prediction_logits"] if "prediction_logits" in out else out["logits"]
    return {name: [w[0].numpy() for w in layers] for name, layers in held.items()}, logits[0].numpy()


def gap(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """The largest difference between the two of each pair."""
    return max(float(np.abs(mine - theirs).max()) for mine, theirs in pairs)


def written(measured: SupportTable) -> str:
    """The table as Markdown."""
    lines = [
        "| class | family | shown | weights | outputs | computed again | states | edits |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in measured.rows:
        if row.way == "refused":
            lines.append(f"| {row.architecture} | | refused: {row.reason} | | | | | |")
            continue
        shown, again = ("every stage", f"{row.residual:.0e}") if row.way == STAGES else ("weights only", "")
        cells = (row.architecture, row.family, shown, f"{row.weights:g}", f"{row.outputs:g}", again, "yes" if row.states else "no",
                 ", ".join(row.edits))  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


ABOVE = """# Architectures that open

Each row was measured on a tiny model with random weights, with {versions}: the largest differences between what a trace holds and
what the class computes with eager attention (weights, outputs), and the largest difference of weights that were computed again
from q, k and the mask. Make the table again with `python -m explorer.studies.support`.

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
