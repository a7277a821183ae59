"""A Hugging Face model without a twin as what is fine-tuned: a copy without its head for pre-training, which hands out its last states."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.models.hub.adopting import adopt, module_outputs
from explorer.models.hub.attending import attend_by
from explorer.models.hub.foreign import HubModel
from explorer.models.model import TrainableModel

OUTPUT_LAYER = "task_output"  # what a fine-tuning of before put on top
HUB = "hub"  # the preset of what was built as none of ours
FINAL_NORM = re.compile(r"(^|[._])(norm|ln|ln_f|layer_?norm|layernorm)$|norm$", re.IGNORECASE)
QUERIES = {"q_proj", "query", "q_lin", "q", "query_proj", "q_attn"}
VALUES = {"v_proj", "value", "v_lin", "v", "value_proj", "v_attn"}
TOGETHER = {"query_key_value", "qkv_proj", "c_attn", "Wqkv", "in_proj"}  # queries, keys and values as one matrix


@dataclass(frozen=True)
class HubShape:
    """What of a Hugging Face body its fine-tuning has to know."""

    architecture: str
    family: str
    streams: dict[str, tuple[int, int]]
    dim: int
    layers: int
    segments: int  # 0: it has none, and reads a pair without them
    length: int
    vocab: int


class HubBody(HubModel, TrainableModel):
    """A copy of a Hugging Face model that learns; the one that was opened stays as it is."""

    width = 0  # its own number, not a property

    def __init__(self, name: str, module: Any, like: HubModel) -> None:
        HubModel.__init__(self, name, adopt(module), like.tokenizer, like.longest)
        self.preset = HUB
        self.config: Any = HubShape(
            type(module).__name__, self.family, self.streams, last_width(module), len(self.layers),
            int(getattr(module.config, "type_vocab_size", 0) or 0) if self._parted else 0,
            self._longest, module.get_input_embeddings().num_embeddings,
        )  # fmt: skip

    @property
    def layers(self) -> list[nn.Module]:
        """Its Transformer layers, from the first to the last; none where they were not found."""
        return [layer for layer, _ in self.adopted.places.layers]

    @property
    def last_parts(self) -> list[nn.Module]:
        """What stands behind the last layer and normalises its states."""
        inside = {id(part) for layer in self.layers for part in layer.modules()}
        return [
            part for path, part in self.module.named_modules()
            if FINAL_NORM.search(path) and "embed" not in path.lower() and id(part) not in inside
            and any(True for _ in part.parameters(recurse=False))
        ]  # fmt: skip

    @property
    def pooler(self) -> nn.Linear | None:
        """The dense layer over the first state that pre-training taught a BERT, which its published classifiers begin with."""
        part = getattr(self.module, "pooler", None)
        dense = getattr(part, "dense", part)
        return dense if isinstance(dense, nn.Linear) and dense.in_features == dense.out_features else None

    def states(self, ids: Tensor, segments: Tensor, attention_mask: Tensor) -> Tensor:
        """The last states [batch, position, dim] of a padded batch; `attention_mask` [batch, position] is False at padding."""
        given: dict[str, Any] = {"attention_mask": attention_mask.long()}
        if self._parted and self.config.segments > 1:
            given["token_type_ids"] = segments
        hidden: Tensor = module_outputs(self.module, ids, **given).last_hidden_state
        return hidden

    def adapted_parts(self) -> tuple[str, ...]:
        """The names of the matrices that low-rank adapters stand beside: queries and values, or both in one."""
        names = {path.rsplit(".", 1)[-1] for layer in self.layers for path, _ in layer.named_modules() if path}
        parts = sorted(names & QUERIES) + sorted(names & VALUES)
        parts = parts if len(parts) > 1 else sorted(names & TOGETHER)
        if not parts:
            raise ChoiceError(f"The queries and values of {self.name} were not found, so how='lora' has no place. Take last-1.")
        return tuple(parts)

    def look_again(self) -> None:
        """Find its parts again, after some of them were replaced."""
        self.adopted = adopt(self.module)


def body_of(model: HubModel, seed: int | None = None) -> HubBody:
    """A copy of a Hugging Face model without its head for pre-training; with a `seed`, the same shape with new weights."""
    what = type(model.module).__name__
    if model.family == "encoder-decoder":
        raise ChoiceError(
            f"{what} writes its answer with a decoder beside an encoder, and none of our models is of its kind. Fine-tune bart or "
            "t5, or an encoder or a decoder of Hugging Face's."
        )
    base = deepcopy(model.module) if isinstance(model, HubBody) and seed is None else bare_copy(model.module, seed)
    base = base.float().eval()
    if hasattr(base, OUTPUT_LAYER):
        delattr(base, OUTPUT_LAYER)
    for weight in base.parameters():
        weight.requires_grad_(True)
    if not hasattr(module_outputs(base, torch.tensor([[1, 2]], device=base.device)), "last_hidden_state"):
        raise ChoiceError(f"{what} gives no access to its last states, so no output layer can read them. Choose another model.")
    return HubBody(model.name, base, model)


def bare_copy(module: Any, seed: int | None) -> Any:
    """A copy of the part of a module that all its heads share; nothing that was hung on the module comes along."""
    config = deepcopy(module.config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed or 0)
        copy = type(module)(config)
    if seed is None:
        copy.load_state_dict(module.state_dict())
    attend_by(copy, "eager")
    return copy.to(module.device).base_model


def last_width(module: Any) -> int:
    """How many features the last states have."""
    ids = torch.tensor([[1, 2]], device=module.get_input_embeddings().weight.device)
    with torch.no_grad():
        return int(module_outputs(module, ids).last_hidden_state.shape[-1])
