"""Attention that is there: which heads find a hidden word, on texts other than those by which they were chosen, and who needs them.

`python -m studies.attention_there` measures bert (about a minute) and writes `data/results/heads-bert`.
"""

from __future__ import annotations

import numpy as np

from explorer.analysis.head_search import DRAWS, head_search
from explorer.models import store
from explorer.models.transformer import transformer
from explorer.records import HeadSearch
from studies.study import Size, Study, main, table

HEAD = (
    "phenomenon", "questions", "heads", "they are right", "at least", "best rule", "model", "without them", "without others", "verdict",
)  # fmt: skip
SIZE = Size(count=400, heads=2, seed=5)  # so many questions are asked, and so many heads chosen


def search(model: str, size: Size) -> HeadSearch:
    """The heads of a shipped model, on the world that it was trained on."""
    opened = transformer(store.open_by_name(model))
    return head_search(opened, count=size.count, heads=size.heads, seed=size.seed, version=world_of(model))


def world_of(name: str) -> str:
    """The version of the microworld that a model was trained on; the first where its plan names none."""
    corpus = str(store.run_folder.described(store.folder_of(name))["plan"]["corpus"]["name"]).partition(":")[0]
    return corpus.partition("-")[2] or "1.0"


def verdict(finds: bool, needed: bool) -> str:
    """What the two tests say together."""
    if finds and needed:
        return "they find it, and the model needs them"
    if finds:
        return "they find it, but switching off other heads costs as much"
    return "not better than a rule" + (", though the model needs them" if needed else "")


def facts(search: HeadSearch, size: Size) -> dict[str, object]:
    """Both tables."""
    rows = [
        (
            name,
            f"{search.questions[n]:.0f}",
            ", ".join(f"{layer}.{head}" for layer, head in search.heads[n]),
            " ".join(f"{share:.3f}" for share in search.kept[n]),
            *(f"{values[n]:.3f}" for values in (search.lowest, search.best_rule, search.intact, search.silenced)),
            f"{np.nanmin(search.others[n]):.3f} to {np.nanmax(search.others[n]):.3f}",
            verdict(bool(search.finds[n]), bool(search.needed[n])),
        )
        for n, name in enumerate(search.phenomena)
    ]
    rules = [(name, *(f"{share:.3f}" for share in shares)) for name, shares in search.rules.items()]
    tables = {"table": table(HEAD, rows), "rules": table(["rule", *search.phenomena], rules)}
    return {**tables, "chosen": size.heads, "draws": DRAWS}


STUDIES = {"bert": Study("heads-bert", SIZE, (["bert"],), search, lambda searches, size: searches[0], facts, models=("bert",))}

if __name__ == "__main__":
    main(STUDIES)
