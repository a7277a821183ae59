"""A pretended GPU: tensors that say they are on cuda:0 and compute on the processor. It needs no CUDA build of PyTorch.

To PyTorch's engine they are on the device "meta", which every build has; so mixed precision is done here, by PyTorch's list for GPUs.

Whatever a GPU would refuse is refused here: operands on two devices, gradients through cuDNN's LSTM outside training. Counted is what
makes a GPU slow: launches, casts, copies to it for which Python waits, and moments at which Python waits for a result.
Not seen this way: the kernels' own arithmetic, memory, and speed.
"""

from __future__ import annotations

import collections
import contextlib
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import varlen
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from explorer.training.device import quick_in_half

ROOT = str(Path(__file__).parent.parent)
GPU = torch.device("cuda:0")
INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}
READS = {"_local_scalar_dense", "equal", "is_nonzero"}  # a number that Python waits for
SIZED = {"nonzero", "masked_select", "unique_dim", "_unique2", "unique_consecutive", "bincount", "nonzero_static"}
FREE = {  # nothing is launched
    "view", "t", "transpose", "permute", "expand", "unsqueeze", "squeeze", "slice", "select", "detach", "alias", "_unsafe_view",
    "as_strided", "split", "split_with_sizes", "unbind", "unfold", "lift_fresh", "_reshape_alias", "diagonal", "empty", "empty_like",
    "empty_strided", "new_empty", "new_empty_strided", "is_same_size", "unflatten", "is_pinned",
}  # fmt: skip


@dataclass
class Log:
    """What was done on the device so far, each with the line of ours that asked for it."""

    launches: collections.Counter[str] = field(default_factory=collections.Counter)
    waits: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)
    copies: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)  # to the device, blocking
    states: collections.Counter[int] = field(default_factory=collections.Counter)  # generators that were saved, by device

    def reset(self) -> None:
        for counter in (self.launches, self.waits, self.copies, self.states):
            counter.clear()

    @property
    def casts(self) -> int:
        return self.launches["cast"]


LOG = Log()


def asked_by() -> str:
    """The line of this repository that led here."""
    for frame in reversed(traceback.extract_stack()):
        if frame.filename.startswith(ROOT) and frame.filename != __file__ and ".venv" not in frame.filename:
            return f"{frame.filename.removeprefix(ROOT + '/')}:{frame.lineno}"
    return "elsewhere"


class Pretended(Tensor):
    """A tensor that says it is on the GPU, around one that is not."""

    inner: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    device = property(lambda self: GPU)  # type: ignore[assignment]
    is_cuda = property(lambda self: True)  # type: ignore[assignment]
    is_meta = property(lambda self: False)  # type: ignore[assignment]
    is_cpu = property(lambda self: False)  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, inner: Tensor, requires_grad: bool = False) -> Pretended:
        wrapped = torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype,
            layout=inner.layout, device=torch.device("meta"), requires_grad=requires_grad,
        )  # fmt: skip
        wrapped.inner = inner
        return wrapped

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return computed(func, args, kwargs or {})

    def __repr__(self, **_: Any) -> str:
        return f"Pretended({self.inner})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            wrapped = Pretended(self.inner.detach().clone())
            own = isinstance(self, torch.nn.Parameter)
            memo[id(self)] = (
                torch.nn.Parameter(wrapped, self.requires_grad) if own else wrapped.requires_grad_(self.requires_grad)
            )
        return memo[id(self)]


def there(x: object) -> bool:
    return isinstance(x, Pretended)


def on_gpu(device: torch.device) -> bool:
    """Whether the pretended GPU is meant: by its name, or by that of the device which the engine takes it for."""
    return device.type == "cuda" or (device.type == "meta" and torch.get_default_device().type != "meta")


def computed(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """One operation: checked as a GPU would, counted, and computed on the processor."""
    name = func.overloadpacket.__name__
    tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, Tensor)]
    given = any(map(there, tensors))
    device = kwargs.get("device")
    meant = given if device is None else on_gpu(torch.device(device))
    inner = lambda x: x.inner if there(x) else x  # noqa: E731
    own_args, own = tree_map(inner, args), tree_map(inner, kwargs)
    own |= {} if device is None else {"device": torch.device("cpu")}
    own |= {"pin_memory": False} if own.get("pin_memory") else {}
    if name in ("_to_copy", "copy_"):
        return moved(func, args, kwargs, own_args, own, to=meant)
    if given:
        _check(func, name, args, tensors)
    if (given or meant) and name not in FREE:
        LOG.launches[name] += 1
    result = OWN[name](*own_args, **own) if name in OWN else func(*own_args, **own)
    if not meant or name in READS:
        return result
    same = {id(x.inner): x for x in tensors if there(x)}  # of an operation in place

    def wrapped(x: object) -> object:
        if not isinstance(x, Tensor) or there(x):
            return x
        return same[id(x)] if id(x) in same else Pretended(x)

    return tree_map(wrapped, result)


def _check(func: Any, name: str, args: Any, tensors: list[Tensor]) -> None:
    """Refuse two devices; count what makes Python wait."""
    if any(not there(x) and x.dim() > 0 for x in tensors):
        if name not in INDEXING or not there(args[0]):
            raise RuntimeError(f"Expected all tensors to be on the same device: {func} at {asked_by()}")
        LOG.copies["index on the processor", asked_by()] += 1
    if name in READS | SIZED:
        LOG.waits[name, asked_by()] += 1
    if name in INDEXING and any(ix is not None and ix.dtype in (torch.bool, torch.uint8) for ix in args[1]):
        LOG.waits["index by a mask", asked_by()] += 1


def moved(func: Any, args: Any, kwargs: dict[str, Any], own_args: Any, own: dict[str, Any], *, to: bool) -> Any:
    """A copy: between devices, or a cast on one of them."""
    if func.overloadpacket.__name__ == "copy_":
        to, source, waits = there(args[0]), there(args[1]), not (len(args) > 2 and args[2])
    else:
        source, waits = there(args[0]), not kwargs.get("non_blocking")
    if source and not to:
        LOG.waits["copy from the device", asked_by()] += 1
    elif to and not source and waits:
        LOG.copies["copy", asked_by()] += 1
    if source or to:
        LOG.launches["copy" if source != to else "cast" if own.get("dtype") not in (None, args[0].dtype) else "clone"] += 1
    if func.overloadpacket.__name__ == "copy_":
        func(*own_args, **own)
        return args[0]
    moved_value = func(*own_args, **own)
    if moved_value.numel() and moved_value.data_ptr() == own_args[0].data_ptr():
        moved_value = moved_value.clone()
    return Pretended(moved_value) if to else moved_value


def _rms_norm(x: Tensor, shape: Any, weight: Tensor | None, epsilon: float | None) -> tuple[Tensor, Tensor]:
    """PyTorch has this fused operation for GPUs alone; written out."""
    deviation = (x.float().square().mean(-1, keepdim=True) + (1.2e-7 if epsilon is None else epsilon)).rsqrt()
    return (x.float() * deviation * (1 if weight is None else weight)).to(x.dtype), deviation


def _rms_norm_backward(g: Tensor, x: Tensor, shape: Any, rstd: Tensor, weight: Tensor | None, mask: Any) -> tuple[Any, Any]:
    even = x.float() * rstd
    by_weight = (g.float() * even).flatten(0, -2).sum(0).to(weight.dtype) if mask[1] and weight is not None else None
    way = g.float() * (1 if weight is None else weight)
    return (rstd * (way - even * (way * even).mean(-1, keepdim=True))).to(x.dtype), by_weight


OWN: dict[str, Callable[..., Any]] = {"_fused_rms_norm": _rms_norm, "_fused_rms_norm_backward": _rms_norm_backward}


class PretendedMode(TorchDispatchMode):
    """Makes new tensors on the pretended device, and mixes no devices."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return computed(func, args, kwargs or {})


def attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, **more: Any) -> Tensor:
    """`scaled_dot_product_attention` with the conditions of its GPU kernels, as one launch."""
    if not there(q):
        return REAL_ATTENTION(q, k, v, attn_mask=attn_mask, dropout_p=dropout_p, **more)
    kinds = {(x.dtype, x.device) for x in (q, k, v)}
    assert len(kinds) == 1, f"query, key and value differ: {kinds}"
    assert attn_mask is None or attn_mask.dtype in (torch.bool, q.dtype), f"mask {attn_mask.dtype} for {q.dtype}"
    before = LOG.launches.copy()
    with torch.autocast("cuda", enabled=False):
        scores = (q * (more.get("scale") or q.shape[-1] ** -0.5)) @ k.transpose(-2, -1)
        if more.get("is_causal"):
            late = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(late, -torch.inf)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        elif attn_mask is not None:
            scores = scores + attn_mask
        mixed: Tensor = torch.nn.functional.dropout(scores.softmax(-1), dropout_p) @ v
    LOG.launches.clear()
    LOG.launches.update(before)
    LOG.launches["attention without a mask" if attn_mask is None else "attention with a mask"] += 1
    return mixed


REAL_ATTENTION = torch.nn.functional.scaled_dot_product_attention


def end_to_end(
    q: Tensor, k: Tensor, v: Tensor, starts: Tensor, *rest: Any, scale: float, window_size: tuple[int, int]
) -> Tensor:
    """What `varlen_attn` is documented to compute, text by text, with the conditions of its kernel: [token, head, dim]."""
    edges, outputs = starts.inner.tolist(), []  # type: ignore[attr-defined]
    assert starts.dtype == torch.int32 and q.dtype == torch.bfloat16 and q.shape == k.shape == v.shape
    assert q.shape[-1] % 8 == 0 and q.shape[-1] <= 256, "the kernel reads heads of such widths alone"
    assert torch.cuda.get_device_capability() >= (8, 0), "and runs on Ampere and later GPUs alone"
    before = LOG.launches.copy()
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        mine = (x[begin:end].transpose(0, 1)[None] for x in (q, k, v))
        outputs.append(attention(*mine, scale=scale, is_causal=window_size == (-1, 0))[0].transpose(0, 1))
    LOG.launches.clear()
    LOG.launches.update(before)
    LOG.launches["attention end to end"] += 1
    return torch.cat(outputs)


class Recurrent:
    """cuDNN's LSTM, written out, with its rule about gradients."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch._VF, name)

    def lstm(self, x: Tensor, hx: Any, weights: Any, bias: bool, layers: int, drop: float, training: bool, *more: Any) -> Any:
        if not there(x):
            return torch._VF.lstm(x, hx, weights, bias, layers, drop, training, *more)
        followed = torch.is_grad_enabled() and (x.requires_grad or any(w.requires_grad for w in weights))
        if followed and not training and torch.backends.cudnn.enabled:
            raise RuntimeError(f"cudnn RNN backward can only be called in training mode ({asked_by()})")
        assert layers == 1 and more == (False, True), "one layer in one direction, batch first"
        h, c = (state[0] for state in hx)
        outputs = []
        for place in range(x.shape[1]):
            gates = torch.nn.functional.linear(x[:, place], weights[0], weights[2])
            gates = gates + torch.nn.functional.linear(h, weights[1], weights[3])
            i, f, g, o = gates.float().chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = torch.nn.functional.linear((o.sigmoid() * c.tanh()).to(weights[4].dtype), weights[4])
            outputs.append(h)
        return torch.stack(outputs, 1), h[None], c[None]


HALVED = {  # functions that autocast runs in 16 bits on a GPU
    torch.nn.functional.linear, torch.nn.functional.conv1d, torch.conv1d, torch.matmul, torch.mm, torch.bmm, torch.addmm, torch.baddbmm,
    Tensor.matmul, Tensor.__matmul__, Tensor.__rmatmul__, Tensor.mm, Tensor.bmm, Tensor.addmm, Tensor.baddbmm,
    torch.tensordot, torch.einsum, attention,
}  # fmt: skip
WHOLE = {  # and those that it runs in 32
    torch.nn.functional.layer_norm, torch.nn.functional.cross_entropy, torch.nn.functional.nll_loss, torch.nn.functional.kl_div,
    torch.nn.functional.binary_cross_entropy_with_logits, torch.nn.functional.softplus, torch.nn.functional.cosine_similarity,
    torch.nn.functional.mse_loss, torch.nn.functional.softmax, torch.nn.functional.log_softmax, torch.softmax, torch.log_softmax,
    Tensor.softmax, Tensor.log_softmax, torch.cumsum, Tensor.cumsum, Tensor.sum, torch.sum, Tensor.prod, Tensor.norm, torch.norm,
    Tensor.exp, torch.exp, Tensor.log, torch.log, Tensor.pow, Tensor.__pow__, torch.pow, Tensor.rsqrt, torch.rsqrt,
}  # fmt: skip


class MixedPrecision(TorchFunctionMode):
    """What `torch.autocast` does on a GPU; a weight is cast once for each time that autocast is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[int, torch.dtype], Tensor] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.to and len(args) > 1 and there(args[1]):  # which the engine takes for another device
            args, kwargs = args[:1], {"device": GPU, "dtype": args[1].dtype, **kwargs}
        if func is Tensor.new_zeros and there(args[0]):
            func, args, kwargs = torch.zeros, args[1:], {"device": GPU, "dtype": args[0].dtype, **kwargs}
        if func is Tensor.new_tensor and there(args[0]):
            func, args, kwargs = torch.tensor, args[1:], {"device": GPU, "dtype": args[0].dtype, **kwargs}
        if (func in HALVED or func in WHOLE) and torch.is_autocast_enabled("cuda"):
            kind = torch.get_autocast_dtype("cuda") if func in HALVED else torch.float32
            args, kwargs = tree_map(lambda x: self._cast(x, kind), (args, kwargs))
        return func(*args, **kwargs)

    def _cast(self, x: object, kind: torch.dtype) -> object:
        if not isinstance(x, Pretended) or not x.is_floating_point() or x.dtype in (kind, torch.float64):
            return x
        if not (x.is_leaf and x.requires_grad):
            return x.to(kind)
        if (id(x), kind) not in self.kept:
            self.kept[id(x), kind] = x.to(kind)
        return self.kept[id(x), kind]


@contextlib.contextmanager
def _swapped(devices: int, halves: bool) -> Iterator[None]:
    """PyTorch's own functions, as they would answer with so many GPUs; each has its own generator, the first that of the processor."""
    generators = (torch.default_generator, *(torch.Generator() for _ in range(devices - 1)))
    with contextlib.ExitStack() as back:

        def put(owner: Any, name: str, value: Any) -> None:
            back.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)

        def number(device: Any) -> int:
            return device if isinstance(device, int) else torch.device(device).index or 0

        def state(device: Any = 0) -> Tensor:
            LOG.states[number(device)] += 1
            return generators[number(device)].get_state()

        answers: dict[str, Any] = {
            "is_available": lambda: True, "device_count": lambda: devices, "current_device": lambda: 0, "is_initialized": lambda: True,
            "is_bf16_supported": lambda including_emulation=True: including_emulation or halves, "_lazy_init": lambda: None,
            "_is_in_bad_fork": lambda: False,
            "_lazy_call": lambda call, **_: call(), "default_generators": generators, "get_rng_state": state,
            "set_rng_state": lambda value, device=0: generators[number(device)].set_state(value),
            "manual_seed": lambda seed: None, "manual_seed_all": lambda seed: None, "synchronize": lambda device=None: None,
            "get_device_capability": lambda device=None: CAPABILITY[0],
            "set_device": lambda device: None, "is_current_stream_capturing": lambda: False,
            "get_device_name": lambda device=None: "pretended", "max_memory_allocated": lambda device=None: 0,
            "reset_peak_memory_stats": lambda device=None: None, "empty_cache": lambda: None,
        }  # fmt: skip
        for name, value in answers.items():
            put(torch.cuda, name, value)
        precision = MixedPrecision()
        put(torch, "clear_autocast_cache", precision.kept.clear)
        back.enter_context(precision)
        put(torch.Tensor, "pin_memory", lambda self, *_: self)
        put(torch.Tensor, "is_pinned", lambda self, *_: False)
        put(torch.Tensor, "tolist", _tolist)
        put(torch.Tensor, "numpy", _numpy)
        put(torch.nn.modules.rnn, "_VF", Recurrent())
        put(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
        put(torch.nn.functional, "scaled_dot_product_attention", attention)
        put(varlen, "varlen_attn", end_to_end)
        put(torch.nn.Module, "_apply", _apply)
        put(torch._C, "_InferenceMode", lambda mode: torch.set_grad_enabled(not mode))  # wrappers have no such mode
        torch._C._set_only_lift_cpu_tensors(True)
        back.callback(torch._C._set_only_lift_cpu_tensors, False)
        yield


REAL_TOLIST, REAL_NUMPY, REAL_APPLY = torch.Tensor.tolist, torch.Tensor.numpy, torch.nn.Module._apply


def _apply(self: torch.nn.Module, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> torch.nn.Module:
    """A module that moves gets other tensors: data cannot be exchanged between two kinds."""
    was = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return REAL_APPLY(self, fn, recurse)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(was)


def _tolist(self: Tensor) -> Any:
    if not there(self):
        return REAL_TOLIST(self)
    LOG.waits["tolist", asked_by()] += 1
    return REAL_TOLIST(self.inner)


def _numpy(self: Tensor, **more: Any) -> Any:
    if there(self):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return REAL_NUMPY(self, **more)


CAPABILITY = [(9, 0)]  # the kind of GPU, as `torch.cuda.get_device_capability` says it
HALVES = quick_in_half(torch.device("cpu"))  # then both move weights alike


@contextlib.contextmanager
def pretended(devices: int = 1, *, halves: bool = HALVES) -> Iterator[Log]:
    """While inside, there are so many GPUs, which have units for 16-bit numbers (`halves`) where the processor has them."""
    LOG.reset()
    with _swapped(devices, halves), PretendedMode():
        yield LOG
