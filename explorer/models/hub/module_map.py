"""What surrounds attention in a Hugging Face model: its layers, sub-layers and positions, found by their places and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.hub.listening import Pass, current
from explorer.models.hub.sublayers import LayerCalls, norms_in, tap_sublayers
from explorer.nn import tap
from explorer.records import TapPlace

ATTENTION = re.compile(r"Attention|Attn")
OUT = ("o_proj", "out_proj", "c_proj", "dense", "out_lin", "wo", "Wo", "o", "output.dense", "linear_out")
NARROW = re.compile(r"(^|\.)(down_proj|fc2|c_proj|dense_4h_to_h|wo|Wo|lin2|ffn_output|output\.dense|fc_out|w2|layer_2)$")
TABLES = {"position_embeddings", "wpe", "embed_positions", "pos_embedding", "embed_position", "position_embedding"}
MATRICES = {"q_proj": "q", "query": "q", "k_proj": "k", "key": "k"}
FUSED = {"Wqkv": "qkv", "query_key_value": "qkv", "qkv_proj": "qkv"}  # one matrix that makes queries, keys and values
LINEAR = ("Linear", "Conv1D", "NonDynamicallyQuantizableLinear", "FalconLinear")
WHOLE = ("mlp", "block_sparse_moe", "feed_forward")  # a feed-forward sub-layer of many experts, where no single matrix ends it


@dataclass
class ModuleMap:
    """Where in a module the layers, the ends of sub-layers and the positions are."""

    layers: list[tuple[nn.Module, str]] = field(default_factory=list)  # with the stream that they belong to
    projections: dict[int, int] = field(default_factory=dict)  # from an attention to its W_O
    outs: list[tuple[nn.Module, str, str]] = field(default_factory=list)  # the last matrix of a sub-layer, its stream, its part
    experts: list[tuple[nn.Module, str]] = field(default_factory=list)  # whole feed-forward sub-layers, with their stream
    positions: list[tuple[nn.Module, str]] = field(default_factory=list)
    norms: list[nn.Module] = field(default_factory=list)  # everything in a layer that normalises
    turning: list[tuple[nn.Module, nn.Module, str]] = field(
        default_factory=list
    )  # W_Q or W_K, its attention, "q", "k" or "qkv"
    unturned: bool = False  # queries and keys are turned after a matrix that was not found
    biased: bool = False  # distances are added to the scores, as in T5


def module_map(module: nn.Module, streams: dict[int, str]) -> ModuleMap:
    """Look through a module; `streams` says where each part belongs."""
    named = dict(module.named_modules())
    places = ModuleMap(biased=any("relative_attention_bias" in path for path in named))
    seen: dict[int, str] = {}
    for path, part in named.items():
        stream = streams[id(part)]
        if path.rsplit(".", 1)[-1] in TABLES or "RotaryEmbedding" in type(part).__name__:
            places.positions.append((part, stream))
        if ATTENTION.search(type(part).__name__) and (layer := _layer_around(path, named)):
            seen.setdefault(id(layer[1]), layer[0])
            _add_projection(places, (path, part, stream), named)
            _add_turning(places, part)
    for number, path in seen.items():
        layer = named[path]
        assert id(layer) == number
        stream = "decoder" if streams[number] == "cross" else streams[number]
        places.layers.append((layer, stream))
        places.norms += norms_in(layer)
        narrow = _narrowing(layer, places)
        places.outs += [(matrix, stream, "feed-forward") for matrix in narrow]
        places.experts += [(part, stream) for name, part in layer.named_children() if name in WHOLE and not narrow]
    rotary = any("Rotary" in type(part).__name__ for part in named.values())
    places.unturned = rotary and all(which == "qkv" for _, _, which in places.turning)
    return places


def _add_turning(places: ModuleMap, attention: nn.Module) -> None:
    """W_Q and W_K of an attention, where QK norm or RoPE may change what they make before it meets."""
    if attention in (module for _, module, _ in places.turning):
        return
    own = dict(attention.named_children())
    places.turning += [(own[name], attention, which) for name, which in {**MATRICES, **FUSED}.items() if name in own]


def _layer_around(path: str, named: dict[str, nn.Module]) -> tuple[str, nn.Module] | None:
    """The outermost numbered part that this one is in: its layer."""
    parts = path.split(".")
    for end in range(1, len(parts)):
        outer = named.get(".".join(parts[:end]))
        if isinstance(outer, nn.ModuleList) and parts[end].isdigit():
            inner = ".".join(parts[: end + 1])
            return inner, named[inner]
    return None


def _add_projection(places: ModuleMap, at: tuple[str, nn.Module, str], named: dict[str, nn.Module]) -> None:
    """W_O of an attention: its own matrix, or (in BERT and its relatives) the one of the neighbouring module."""
    path, part, stream = at
    beside = path.rsplit(".", 1)[0]
    within = re.search(
        r"attention|attn", beside.rsplit(".", 1)[-1], re.IGNORECASE
    )  # a layer's own output is another matter (MPNet)
    for base in (path, beside) if within else (path,):
        for name in OUT if base == path else ("output.dense",):
            matrix = named.get(f"{base}.{name}")
            if matrix is not None and type(matrix).__name__ in LINEAR:
                places.projections.setdefault(id(part), id(matrix))
                if all(matrix is not module for module, *_ in places.outs):
                    places.outs.append((matrix, stream, "cross-attention" if stream == "cross" else "attention"))
                return


def _narrowing(layer: nn.Module, places: ModuleMap) -> list[nn.Module]:
    """The last matrix of the feed-forward sub-layer, where its name identifies it and it is one."""
    taken = {id(matrix) for matrix, *_ in places.outs}
    inside = [
        part
        for path, part in layer.named_modules()
        if NARROW.search(path) and type(part).__name__ in LINEAR and id(part) not in taken
        and not re.search(r"attention|attn", path, re.IGNORECASE)
    ]  # fmt: skip
    return inside if len(inside) == 1 else []


def hang(places: ModuleMap) -> list[Any]:
    """Put the hooks on; they say nothing unless this thread watches a pass."""
    handles = []
    for layer, stream in places.layers:
        handles.append(layer.register_forward_pre_hook(_entering(stream), with_kwargs=True))
        handles.append(layer.register_forward_hook(_leaving(stream)))
    for matrix, stream, part in places.outs:
        handles.append(matrix.register_forward_hook(_out(stream, part)))
        if part == "feed-forward":
            handles.append(matrix.register_forward_pre_hook(_units(stream)))
    handles += [part.register_forward_hook(_mixed(stream)) for part, stream in places.experts]
    handles += [norm.register_forward_hook(_normed) for norm in places.norms]
    for matrix, attention, which in places.turning:
        handles.append(matrix.register_forward_hook(_projected(id(attention), which)))
    for table, stream in places.positions:
        handles.append(table.register_forward_hook(_placed(stream)))
    return handles


def _normed(module: nn.Module, args: tuple[Any, ...], out: Any) -> None:
    """After a norm: what it was given and what it made."""
    now = current.get()
    if now is not None and now.inside is not None and args and isinstance(out, Tensor):
        now.inside.norm(module, args[0], out)


def _projected(attention: int, which: str) -> Any:
    """After W_Q or W_K."""

    def hook(module: nn.Module, args: Any, out: Tensor) -> None:
        now = current.get()
        if now is not None:
            now.turned.setdefault(attention, {})[which] = out

    return hook


@contextmanager
def hooks(places: ModuleMap) -> Iterator[None]:
    """The hooks for a while."""
    with ExitStack() as after:
        for handle in hang(places):
            after.callback(handle.remove)
        yield


def _entering(stream: str) -> Any:
    """Before the first layer of a stream: the states that enter it."""

    def hook(module: nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        now = current.get()
        x = args[0] if args else given.get("hidden_states")
        if now is None or not isinstance(x, Tensor):
            return None
        now.inside = LayerCalls(x)
        if stream in now.states:
            return None
        now.states[stream] = 0
        now.inside.given = changed = _turned(tap.edited(TapPlace.HIDDEN, stream, -1, _turned(x)), like=x)
        tap.tap(TapPlace.EMBEDDINGS, stream, sum=_turned(changed))
        tap.tap(TapPlace.HIDDEN, stream, -1, x=_turned(changed))
        return ((changed, *args[1:]), given) if args else (args, {**given, "hidden_states": changed})

    return hook


def _leaving(stream: str) -> Any:
    """After a layer: its states."""

    def hook(module: nn.Module, args: Any, out: Any) -> Any:
        now = current.get()
        x = out[0] if isinstance(out, (tuple, list)) else out
        if now is None or not isinstance(x, Tensor):
            return None
        layer = now.states.get(stream, 0)
        now.states[stream] = layer + 1
        _finish(now, (stream, layer), x)
        changed = tap.edited(TapPlace.HIDDEN, stream, layer, _turned(x))
        tap.tap(TapPlace.HIDDEN, stream, layer, x=changed)
        changed = _turned(changed, like=x)
        if changed is x:
            return None
        return (changed, *out[1:]) if isinstance(out, (tuple, list)) else changed

    return hook


def _finish(now: Pass, name: tuple[str, int], result: Tensor) -> None:
    """Tap the sub-layers of a layer, or keep the calls inside it while they are being found."""
    calls, now.inside = now.inside, None
    if calls is None:
        return
    if now.plans is None:
        now.results[name] = (calls, result)
    elif name in now.plans:
        tap_sublayers(name, calls, now.plans[name])


def _out(stream: str, part: str) -> Any:
    """After the last matrix of a sub-layer: what it adds to the stream."""

    def hook(module: nn.Module, args: Any, out: Tensor) -> Tensor | None:
        now = current.get()
        if now is None:
            return None
        name = now.open.pop(id(module), None)
        layer = now.states.get(stream if stream != "cross" else "decoder", 0) if name is None else name[1]
        changed = tap.edited(TapPlace.OUT, stream if part != "cross-attention" else "decoder", layer, out, part)
        if name is not None:
            tap.tap(TapPlace.ATTENTION_OUT, *name, output=out)
        if now.inside is not None:
            now.inside.out(part, changed, args[0])
        return None if changed is out else changed

    return hook


def _mixed(stream: str) -> Any:
    """After a feed-forward sub-layer of several experts: their sum, without the units of each."""

    def hook(module: nn.Module, args: Any, out: Any) -> Any:
        now = current.get()
        mixed = out[0] if isinstance(out, tuple) else out
        if now is None or now.inside is None or not isinstance(mixed, Tensor):
            return None
        changed = tap.edited(TapPlace.OUT, stream, now.states.get(stream, 0), mixed, "feed-forward")
        now.inside.out("feed-forward", changed, None)
        if changed is mixed:
            return None
        return (changed, *out[1:]) if isinstance(out, tuple) else changed

    return hook


def _units(stream: str) -> Any:
    """Before the last matrix of a feed-forward layer: its hidden units."""

    def hook(module: nn.Module, args: tuple[Any, ...]) -> Any:
        now = current.get()
        if now is None or not args or not isinstance(args[0], Tensor):
            return None
        changed = tap.edited(TapPlace.UNITS, stream, now.states.get(stream, 0), args[0])
        return None if changed is args[0] else (changed, *args[1:])

    return hook


def _placed(stream: str) -> Any:
    """After a table of positions, or of the rotations of RoPE: each word gets the row of the position that it is given."""

    def hook(module: nn.Module, args: Any, out: Any) -> Any:
        if current.get() is None:
            return None
        parts = out if isinstance(out, tuple) else (out,)
        where = torch.arange(parts[0].shape[-2], device=parts[0].device)
        module_map = tap.edited(TapPlace.POSITIONS, stream, -1, where)
        if module_map is where:
            return None
        if module_map is None:  # nowhere: nothing is added, nothing turned (cos = 1, sin = 0)
            return (torch.ones_like(out[0]), torch.zeros_like(out[1])) if isinstance(out, tuple) else torch.zeros_like(out)
        moved = tuple(x[..., module_map, :] for x in parts)
        return moved if isinstance(out, tuple) else moved[0]

    return hook


def _turned(x: Tensor, like: Tensor | None = None) -> Tensor:
    """States with the batch first: XLNet has [position, batch, dim]. With `like`, back to the order of that."""
    if like is not None:
        return x if _turned(like) is like else x.transpose(0, 1)
    return x.transpose(0, 1) if x.dim() == 3 and x.shape[0] > 1 and x.shape[1] == 1 else x
