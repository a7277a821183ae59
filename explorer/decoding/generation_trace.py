"""The attention of a text as it is written: what every step looked at, joined into one growing matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.decoding import huggingface
from explorer.decoding.decode import PreparedDecoding, decode, writer
from explorer.decoding.native import NativeStepper
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.nn import tap
from explorer.records import Attention, DecodingStep, Generation, TapPlace, Trace
from explorer.text.reading import Text

LIMIT = 512


@checked
def watch(model: Any, text: Text, strategy: str = "greedy", *, prefix: Text | None = None, **options: Any) -> Generation:
    """Let `model` write, then follow its best text once more, step by step through the cache, and keep all attention.

    Step 0 reads the whole prompt; every later step adds one row, which looks at all columns so far. The weights of all steps are
    joined in `generation.trace`, so every view of a trace shows them.

    >>> len(ex.decoding.watch(ex.load("gpt2"), "A dog", max_tokens=3).steps)
    3
    """
    if strategy == "fill":
        raise ChoiceError("Filling blanks reads the whole text again every time, so there is nothing that grows. Use ex.trace.")
    steps = tuple(step for step in decode(model, text, strategy, prefix=prefix, cross=False, **options))
    final = steps[-1]
    assert isinstance(final, DecodingStep)
    prepared = writer(model, text, prefix=prefix)
    read = [*prepared.prompt, *final.ids.tolist()[:-1]]  # the last token was written, but the model did not read it
    if len(read) > LIMIT:
        raise ChoiceError(f"{len(read)} tokens make {len(read)}² cells a head; a growing matrix stops at {LIMIT}.")
    chunks = [read[: len(prepared.prompt)], *[[token] for token in read[len(prepared.prompt) :]]]
    record = _of_native if isinstance(prepared.stepper, NativeStepper) else _of_huggingface
    attention = tuple(_joined(parts) for parts in record(prepared, chunks))
    rows = prepared.tokenizer.tokens(read)
    family = "decoder" if prepared.source is None else "encoder-decoder"
    first, second = (rows, None) if prepared.source is None else (prepared.source, rows)
    begins = np.cumsum([0, *[len(chunk) for chunk in chunks[:-1]]]).tolist()
    return Generation(Trace(prepared.name, family, first, second, attention, {}), tuple(begins), steps)


Part = dict[str, Any]
ROWS = ("q", "weights", "bias")  # what has a row for each query: [head, query, …]


def _of_native(prepared: PreparedDecoding, chunks: Sequence[Sequence[int]]) -> list[list[Part]]:
    """What one of our models hands out at each step, by stream and layer."""
    stepper, recorded, new = prepared.stepper, dict[tuple[str, int], list[Part]](), 0
    assert isinstance(stepper, NativeStepper)

    def hear(place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.ATTENTION:
            part: Part = {"stream": stream, "layer": layer} | {name: _array(value) for name, value in values.items()}
            if stream != "encoder":  # without a cache a step computes the rows of earlier ones again
                part |= {name: part[name][:, -new:] for name in ROWS if part[name] is not None}
            recorded.setdefault((stream, layer), []).append(part)

    with tap.listening(hear):
        state = stepper.start([*chunks[0]])
        for chunk in chunks:
            new = len(chunk)
            _, state = stepper.next(state, [chunk[-1]], [0])
    return list(recorded.values())


def _array(value: Any) -> Any:
    """A tensor of one text without its batch axis."""
    return value[0].detach().float().cpu().numpy() if isinstance(value, Tensor) and value.dtype != torch.bool else value


@torch.inference_mode()
def _of_huggingface(prepared: PreparedDecoding, chunks: Sequence[Sequence[int]]) -> list[list[Part]]:
    """The weights that a live model hands out at each step; it hands out nothing else."""
    stepper = prepared.stepper
    if not isinstance(stepper, huggingface.HuggingFaceStepper):
        raise ChoiceError(f"{prepared.name} has no attention to watch.")
    module, recorded = stepper.module, _Weights()
    arguments: dict[str, Any] = {"use_cache": True, "output_attentions": True, "return_dict": True}
    with huggingface.explicit(module):
        if prepared.source is not None:
            source = torch.tensor([prepared.source.ids.tolist()], device=module.device)
            encoded = module.get_encoder()(input_ids=source, output_attentions=True, return_dict=True)
            recorded.add("encoder", encoded.attentions)
            arguments["encoder_outputs"] = (encoded.last_hidden_state,)
        unread: list[int] = []
        for chunk in chunks:
            unread += chunk
            ids = {
                "input_ids" if prepared.source is None else "decoder_input_ids": torch.tensor([unread], device=module.device)
            }
            out = module(**ids, **arguments)
            recorded.add("decoder", out.attentions if prepared.source is None else out.decoder_attentions, len(chunk))
            recorded.add("cross", () if prepared.source is None else out.cross_attentions, len(chunk))
            if out.get("past_key_values") is not None:  # some models have no cache and read everything again
                arguments["past_key_values"], unread = out.past_key_values, []
    return list(recorded.parts.values())


class _Weights:
    """Weights by stream and layer, one part for each step."""

    def __init__(self) -> None:
        self.parts: dict[tuple[str, int], list[Part]] = {}

    def add(self, stream: str, layers: Sequence[Tensor], new: int = 0) -> None:
        """The weights of a step, [1, head, query, key] for each layer; of them the last `new` queries (0: all)."""
        for layer, weights in enumerate(layers):
            part = {"stream": stream, "layer": layer, "weights": _array(weights[:, :, -new:]), "scale": 1.0}
            self.parts.setdefault((stream, layer), []).append(part)


def _joined(parts: Sequence[Part]) -> Attention:
    """The rows of all steps under each other; what a step could not see yet stays forbidden."""
    last, stream = parts[-1], parts[-1]["stream"]
    weights = [part["weights"] for part in parts]  # each [head, query, key]
    rows, keys = sum(w.shape[1] for w in weights), weights[-1].shape[2]
    allowed = np.ones((rows, keys), bool) if stream != "decoder" else np.tril(np.ones((rows, keys), bool))
    queries = None if last.get("q") is None else np.concatenate([part["q"] for part in parts], axis=1)
    bias = None if last.get("bias") is None else _under([part["bias"] for part in parts], keys)
    return Attention(
        stream, last["layer"], queries, last.get("k"), last.get("v"), last["scale"], allowed, _under(weights, keys), bias=bias
    )


def _under(parts: Sequence[np.ndarray], keys: int) -> np.ndarray:
    """Matrices [head, query, key] under each other, the shorter ones filled up with zeros."""
    return np.concatenate([np.pad(part, ((0, 0), (0, 0), (0, keys - part.shape[2]))) for part in parts], axis=1)
