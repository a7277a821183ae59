"""Attention that is there: which heads find a hidden word, on texts other than those by which they were chosen, and who needs them.

`python -m studies.attention_there [MODEL]` measures a masked model (bert; about a minute) and writes `data/results/heads-MODEL`.
"""

from __future__ import annotations

import sys

import numpy as np

from explorer.analysis.head_search import DRAWS, HEAD_PHENOMENA, head_search
from explorer.models import results, store
from explorer.models.transformer import transformer
from explorer.records import HeadSearch

COUNT, HEADS, SEED = 400, 2, 5
USUAL = "bert"


def card_of(found: HeadSearch) -> str:
    """The record in words and numbers."""
    named = [", ".join(f"{layer}.{head}" for layer, head in heads) for heads in found.heads]
    rows = [
        f"| {name} | {questions:.0f} | {heads} | {' '.join(f'{share:.3f}' for share in kept)} | {lowest:.3f} | {rule:.3f} | "
        f"{intact:.3f} | {silenced:.3f} | {np.nanmin(others):.3f} to {np.nanmax(others):.3f} | {verdict(finds, needed)} |"
        for name, questions, heads, kept, lowest, rule, intact, silenced, others, finds, needed in zip(
            found.phenomena, found.questions, named, found.kept, found.lowest, found.best_rule, found.intact, found.silenced,
            found.others, found.finds, found.needed, strict=True,
        )
    ]  # fmt: skip
    rules = [f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |" for name, shares in found.rules.items()]
    head = (
        "| phenomenon | questions | heads | they are right | at least | best rule | model | without them | without others | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    )
    return "\n".join([
        f"# Heads of {found.model} that find a hidden word", "", ABOUT.format(model=found.model), "", *head, *rows, "",
        f"| rule | {' | '.join(found.phenomena)} |", f"|---|{'---|' * len(found.phenomena)}", *rules, "",
        f"Make it again: `python -m studies.attention_there {found.model}`.", "",
    ])  # fmt: skip


ABOUT = f"""Each question hides one word of a held-out text of the microworld; candidates are words that occur elsewhere in it, the
hidden one among them. A head (layer.head) is right when it puts more weight from the hidden place on the occurrences of the right
candidate than on those of every other one. The {HEADS} best heads on one half of the questions (at most {COUNT}, two of a pair never
apart) are judged on the other half; *at least* is the lower end of the 95 % interval of the better one. The rules need no model. *Model*
is how often {{model}} itself finds the right candidate more probable than the others, then the same with the chosen heads switched off,
and with {HEADS} other heads switched off ({DRAWS} draws, the lowest and the highest)."""


def verdict(finds: bool, needed: bool) -> str:
    """What the two tests say together."""
    if finds and needed:
        return "they find it, and the model needs them"
    if finds:
        return "they find it, but switching off other heads costs as much"
    return "not better than a rule" + (", though the model needs them" if needed else "")


def measure(name: str) -> HeadSearch:
    """The heads of a shipped model, on the world that it was trained on."""
    return head_search(transformer(store.open_by_name(name)), count=COUNT, heads=HEADS, seed=SEED, version=world_of(name))


def world_of(name: str) -> str:
    """The version of the microworld that a model was trained on; the first where its plan names none."""
    corpus = str(store.run_folder.described(store.folder_of(name))["plan"]["corpus"]["name"]).partition(":")[0]
    return corpus.partition("-")[2] or "1.0"


if __name__ == "__main__":
    for wanted in sys.argv[1:] or [USUAL]:
        record = measure(wanted)
        results.write_result(f"heads-{wanted}", record, card_of(record), (wanted,))
        sys.stdout.write(f"{', '.join(HEAD_PHENOMENA)}\n{card_of(record)}")
