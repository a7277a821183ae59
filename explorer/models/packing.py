"""A model as a page reads it, to run it there: its configuration, its tokenizer and its weights, in one buffer.

u32 length of the header | header as JSON | the weights as a safetensors file, 16 bits each where that loses nothing, else 32.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from safetensors.numpy import save

from explorer.models.elmo import ElmoModel
from explorer.models.model import Model
from explorer.models.transformer import TransformerModel
from explorer.nn.known_parts import all_known, parts_of
from explorer.nn.transformer import MaskDecoder, Transformer

BUFFERS = ("generator.",)  # what only training runs
SCHEMES = (  # the position schemes that the page's engine has: those of views/live/js/positions.js
    "none", "learned", "sinusoidal", "sinusoidal-halves", "t5", "rope", "alibi", "disentangled",
)  # fmt: skip


def packed_model(model: Model, **more: Any) -> bytes | None:
    """The buffer of one of our Transformers or of an ELMo, with `more` in its header; None for one that the page's engine cannot run."""
    if not isinstance(model, (TransformerModel, ElmoModel)) or not runs_in_page(model):
        return None
    text = json.dumps(_header(model) | more, ensure_ascii=False).encode("utf-8", "replace")
    return len(text).to_bytes(4, "little") + text + save(_weights(model))


def runs_in_page(model: TransformerModel | ElmoModel) -> bool:
    """Whether the engine computes the same from the weights: its schemes and parts are those of `nn`, none was replaced or hooked."""
    if isinstance(model, ElmoModel):
        return True
    stacks = (model.module, *(() if model.module.encoder is None else (model.module.encoder,)))
    parts = (part for stack in stacks for part in parts_of(stack) if not isinstance(part, MaskDecoder))
    return type(model.module) is Transformer and model.config.positions in SCHEMES and all(map(all_known, parts))


def _header(model: TransformerModel | ElmoModel) -> dict[str, Any]:
    """All but the weights."""
    tokenizer = model.tokenizer
    mask, seen = tokenizer.vocabulary.mask, tokenizer.seen
    return {
        "name": model.name,
        "config": asdict(model.config) | {"family": model.family},
        "tokenizer": json.loads(tokenizer.core.to_str()),
        "seen": None if seen is None else {"words": sorted(seen.words), "pieces": sorted(seen.pieces)},
        "notes": list(model.notes),
        "mask": "" if mask is None else tokenizer.text_of(mask).strip(),
        "start": getattr(model, "start", 0) if model.family == "encoder-decoder" else 0,
    }


def _weights(model: TransformerModel | ElmoModel) -> dict[str, np.ndarray]:
    """The weights by name, each matrix once."""
    tied = getattr(model.config, "tied", False)
    found = {}
    for name, tensor in model.module.state_dict().items():
        if name.startswith(BUFFERS) or (tied and name == "head.project.weight") or name == "encoder.embeddings.tokens.weight":
            continue
        whole = tensor.detach().float().cpu().numpy()
        half = whole.astype(np.float16)
        found[name] = half if np.array_equal(half.astype(np.float32), whole) else whole
    return found
