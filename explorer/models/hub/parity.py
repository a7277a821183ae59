"""How far an exported model, opened by its Hugging Face class, is from the model itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from explorer.models.hub.opening import quiet_transformers
from explorer.models.transformer import TransformerModel


def difference(model: TransformerModel, folder: Path, texts: Sequence[str]) -> tuple[str, float]:
    """The class that an exported `folder` names, and the largest gap between its scores of these texts and the model's own.

    Both read all texts at once, padded, in float32. An encoder-decoder reconstructs each text from itself.
    """
    import transformers

    architecture = json.loads((folder / "config.json").read_text("utf-8"))["architectures"][0]
    with quiet_transformers():
        twin = getattr(transformers, architecture).from_pretrained(folder).eval()
    read = [model.tokens(text).ids.tolist() for text in texts]
    two_stacks = model.family == "encoder-decoder"
    given = dict(zip(("input_ids", "attention_mask"), _padded(read), strict=True))
    if two_stacks:
        given["decoder_input_ids"] = _padded([[twin.config.decoder_start_token_id, *ids[:-1]] for ids in read])[0]
    with torch.no_grad():
        out = twin(**given)
    theirs = out.prediction_logits if "prediction_logits" in out else out.logits
    ours = model.outputs_many(read, read if two_stacks else None)
    gaps = []
    for row, (ids, outputs) in enumerate(zip(read, ours, strict=True)):
        scores = outputs["lm"] if "lm" in outputs else outputs["rtd"]
        gaps.append(np.abs(scores - theirs[row, : len(ids)].numpy()).max())
    return architecture, float(max(gaps))


def _padded(texts: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids in texts])
    return ids, torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids in texts])
