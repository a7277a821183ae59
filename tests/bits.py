"""Whether a change of the code changed a number: fingerprints of 50 traces, decodings, corruptions and training steps, fixed seeds.

`python tests/bits.py > after.txt` here, the same in a checkout of the commit before, then `diff before.txt after.txt`: a line
that differs is a number that changed. Only public names are used, so the script runs on both; `--few` takes five of each.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import torch

import explorer as ex

SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The dog ran home. It was hungry.",
    "Anna opened the window, and the bat went out into the night.",
    "A girl found a red ball in the garden. She gave it to her brother.",
    "The old man sat by the river and looked at the water.",
)
ATTENTIVE = (
    "bert",
    "roberta",
    "deberta",
    "electra",
    "spanbert",
    "gpt",
    "gpt2",
    "llama",
    "olmo2",
    "bart",
    "t5",
    "transformer",
)
WRITERS = ("gpt", "gpt2", "llama", "bart", "t5", "transformer")
WAYS = (
    ("greedy", {}), ("sample", {"temperature": 0.9, "top_k": 20, "seed": 3}), ("beam", {"beams": 3}), ("sample", {"top_p": 0.8, "seed": 1}),
    ("diverse-beam", {"beams": 4, "groups": 2}), ("beam", {"beams": 4, "length_penalty": 0.6, "no_repeat": 3}),
    ("contrastive", {"top_k": 4}),
)  # fmt: skip
SYSTEMS = ("bert", "gpt2", "bart", "t5", "electra", "transformer", "spanbert", "deberta", "llama", "elmo")
TEXTS = [["The dog ran home.", "It was hungry."], ["Anna saw a cat.", "The cat saw her."], ["Tom fell.", "He was sad."]] * 12
SMALL = {"batch": 4, "checks": 0, "seed": 5, "device": "cpu", "precision": "float32"}


def fingerprint(*values: object) -> str:
    """Twelve digits that differ where any bit differs."""
    made = hashlib.sha256()
    for value in values:
        made.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return made.hexdigest()[:12]


def traces(count: int):
    for n in range(count):
        name, text = ATTENTIVE[n % len(ATTENTIVE)], SENTENCES[n % len(SENTENCES)]
        trace = ex.trace(ex.load(name, device="cpu"), text)
        parts = [part for a in trace.attention for part in (a.q, a.k, a.v, a.weights, a.allowed)]
        hidden = [np.asarray(trace.hidden[key]) for key in sorted(trace.hidden)]
        yield f"trace {n} {name} {fingerprint(*parts, *hidden)}"


def decodings(count: int):
    for n in range(count):
        name, (way, options) = WRITERS[n % len(WRITERS)], WAYS[n % len(WAYS)]
        steps = list(ex.decode(ex.load(name, device="cpu"), SENTENCES[n % len(SENTENCES)], way, max_tokens=12, **options))
        held = [(c.id, c.logp, c.total, c.score, c.fate) for step in steps for c in step.candidates]
        yield f"decoding {n} {name} {way} {fingerprint(held, [tuple(step.ids) for step in steps])}"


def corruptions(count: int):
    tokenizer, mask = ex.load("t5", device="cpu").tokenizer, ex.load("bert", device="cpu").tokenizer
    names = ex.strategies("corruption")
    for n in range(count):
        name = names[n % len(names)]
        text, pieces = " ".join(SENTENCES[n % 3 : n % 3 + 2]), tokenizer if name == "t5" else mask
        made = ex.corrupt(text, name, tokenizer=pieces, seed=n, corpus=[SENTENCES[0], SENTENCES[4]])
        target = None if made.target is None else made.target.ids
        yield f"corruption {n} {name} {fingerprint(made.source.ids, target, made.scored, made.origin, made.action, made.spans)}"


def steps(count: int):
    for name in SYSTEMS[: max(1, count // 5)]:
        more = {"teacher": None} if name == "electra" else {}
        texts = None if name == "transformer" else TEXTS
        pieces = {} if name in ("transformer", "elmo") else {"pieces": 400}
        run = ex.fit(name, steps=5, **({} if texts is None else {"corpus": texts}), **SMALL, **pieces, **more)
        for step in run:
            yield f"step {step.step} {name} {fingerprint(sorted((key, float(value)) for key, value in step.losses.items()))}"
        weights = run.model.module.state_dict()
        yield f"weights {name} {fingerprint(*(weights[key].detach().numpy() for key in sorted(weights)))}"


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    count = 5 if "--few" in sys.argv else 50
    for kind in (traces, decodings, corruptions, steps):
        for line in kind(count):
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
