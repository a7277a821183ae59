"""Opening a live Hugging Face model: one small forward pass finds its attention layers; the model is not changed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.models.hub import module_map
from explorer.models.hub.attending import attend_by, attending
from explorer.models.hub.listening import CROSSING, NAME, Pass, current, register
from explorer.models.hub.sublayers import Plan, Unclear, plan
from explorer.nn import tap
from explorer.records import TapPlace

STAGES, WEIGHTS = "stages", "weights"
LENGTHS = re.compile(r"landmark|block_|segment_|chunk|window|axial")  # settings of classes that read texts of certain lengths
_locks: WeakKeyDictionary[nn.Module, RLock] = WeakKeyDictionary()


@dataclass
class Adopted:
    """A module that can be traced: how, its family, its streams with (layers, heads), and where its parts are."""

    module: Any
    live: bool = True  # somebody else's, to be left as it was
    way: str = STAGES
    family: str = "encoder"
    streams: dict[str, tuple[int, int]] = field(default_factory=dict)
    width: int = 0  # of all heads together
    names: dict[int, str] = field(default_factory=dict)  # the stream of each attention module, by its id
    places: module_map.ModuleMap = field(default_factory=module_map.ModuleMap)
    plans: dict[tuple[str, int], Plan] | None = None  # the sub-layers of each layer; None until they were looked for
    unclear: str = ""  # why what they add cannot be traced

    @contextmanager
    def watched(self) -> Iterator[Pass]:
        """While inside, the module taps what it computes in this thread; afterwards it is restored, whatever happens."""
        with ExitStack() as after:
            if self.live:
                after.enter_context(_locks.setdefault(self.module, RLock()))
                after.enter_context(attending(self.module, NAME if self.way == STAGES else "eager"))
                after.enter_context(module_map.hooks(self.places))
            now = Pass(self.names, self.places.projections if self.way == STAGES else {}, plans=self.plans)
            token = current.set(now)
            after.callback(current.reset, token)
            yield now

    def settle(self) -> None:
        """Open a module of our own for good, so that threads can share it without waiting for each other."""
        self.live = False
        attend_by(self.module, NAME if self.way == STAGES else "eager")
        module_map.hang(self.places)


def adopt(module: nn.Module) -> Adopted:
    """Find out how a live module can be traced; a clear refusal where it cannot."""
    what = type(module).__name__
    if not hasattr(module, "config") or not hasattr(module.config, "get_text_config"):
        raise ChoiceError(f"A live model must be a model of the transformers library (with a config); this is {what}.")
    if getattr(module, "main_input_name", "input_ids") != "input_ids":
        raise ChoiceError(
            f"{what} reads {module.main_input_name}, not text. The explorer opens models that read the tokens of a text."
        )
    register()
    adopted = Adopted(module, family="encoder-decoder" if two_stacks(module) else "encoder")
    adopted.names = {id(part): _stream(path, adopted.family) for path, part in module.named_modules()}
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        recorded = _by_stages(adopted) or _by_weights(adopted)
    _describe(adopted, recorded)
    _look_inside(adopted)
    return adopted


def _look_inside(adopted: Adopted) -> None:
    """Find the sub-layers of every layer, or the reason why they cannot be identified."""
    ids, what = probe(adopted.module), type(adopted.module).__name__
    with torch.no_grad(), torch.random.fork_rng(devices=[]), adopted.watched() as now, tap.listening(lambda *event: None):
        module_outputs(adopted.module, ids, ids if adopted.family == "encoder-decoder" else None)
    adopted.plans = {}
    if not adopted.places.layers:
        adopted.unclear = f"the layers of {what} were not found."
    elif adopted.module.training:
        adopted.unclear = f"dropout is on in {what}, so nothing adds up: call module.eval() and load it again."
    elif adopted.way == STAGES and adopted.places.unturned and not now.parted:
        adopted.unclear = (
            f"{what} turns queries and keys after a matrix that makes more than them, which cannot be shown step by step."
        )
    for name, (recorded, result) in now.results.items() if not adopted.unclear else ():
        try:
            adopted.plans[name] = plan(recorded, result)
        except Unclear as reason:
            adopted.unclear = f"in {name[0]} layer {name[1]} of {what}, {reason}"
            break
    adopted.plans = {} if adopted.unclear else adopted.plans


def two_stacks(module: Any) -> bool:
    """Whether this is an encoder with a decoder beside it."""
    return bool(module.config.is_encoder_decoder) and "decoder_input_ids" in inspect.signature(module.forward).parameters


def module_outputs(module: nn.Module, ids: Tensor, decoder_ids: Tensor | None = None, **more: Any) -> Any:
    """One forward pass; only the arguments that this class takes are passed on."""
    known = inspect.signature(module.forward).parameters
    given = {"input_ids": ids, "use_cache": False, "return_dict": True, **more}
    if decoder_ids is not None:
        given["decoder_input_ids"] = decoder_ids
    return module(**{name: value for name, value in given.items() if name in known or name in more and value is not None})


def probe(module: Any) -> Tensor:
    """Four harmless tokens [1, 4]."""
    config = module.config.get_text_config()
    size = module.get_input_embeddings().num_embeddings
    odd = {getattr(config, name, None) for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")}
    ids = [i for i in range(size) if i not in odd][-4:]
    if len(ids) < 4:
        raise ChoiceError(f"{type(module).__name__} has only {size} tokens, too few for a text.")
    return torch.tensor([ids], device=module.get_input_embeddings().weight.device)


@dataclass
class _Probe:
    """What is recorded in the small pass, by stream: the weights of each layer."""

    weights: dict[str, list[Tensor]] = field(default_factory=dict)
    modules: list[int] = field(default_factory=list)
    width: int = 0

    def __call__(self, place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.ATTENTION:
            self.weights.setdefault(stream, []).append(values["weights"])
            if values["q"] is not None:
                self.width = values["q"].shape[1] * values["q"].shape[-1]


def _by_stages(adopted: Adopted) -> _Probe | None:
    """Try transformers' own way; None where this class does not go it."""
    ids, recorded = probe(adopted.module), _Probe()
    decoder_ids = ids if adopted.family == "encoder-decoder" else None
    try:
        with adopted.watched(), tap.listening(recorded):
            module_outputs(adopted.module, ids, decoder_ids)
    except (LookupError, TypeError, AttributeError, ValueError, RuntimeError):
        return None  # the class knows only the names that it was made with, or reads no text of four tokens
    return recorded if recorded.weights else None


def _by_weights(adopted: Adopted) -> _Probe:
    """The other way: the weights that the class itself hands out."""
    adopted.way, what = WEIGHTS, type(adopted.module).__name__
    ids, recorded = probe(adopted.module), _Probe()
    decoder_ids = ids if adopted.family == "encoder-decoder" else None
    try:
        with attending(adopted.module, "eager"):
            out = module_outputs(adopted.module, ids, decoder_ids, output_attentions=True)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise ChoiceError(f"{what} cannot be opened: it gives no access to its attention weights ({error}).") from error
    except RuntimeError as error:
        raise ChoiceError(
            f"{what} cannot be opened: it fails on a text of four tokens ({error}){_lengths(adopted.module.config)}. "
            "Only models that read texts of any length can be shown."
        ) from error
    recorded.weights = weights_of(out, adopted.family)
    if not recorded.weights:
        raise ChoiceError(
            f"{what} hands out no attention weights. It may have no attention at all (Mamba, RWKV), or may have been loaded "
            "with an implementation that keeps them: load it with attn_implementation='eager'."
        )
    return recorded


def _lengths(config: Any) -> str:
    """The settings of a class that may ask for texts of one length, as it has them."""
    named = {
        name: value for name, value in vars(config.get_text_config()).items() if LENGTHS.search(name) and value is not None
    }
    return "; it has " + ", ".join(f"{name}={value}" for name, value in named.items()) if named else ""


def no_attention(what: str) -> ChoiceError:
    """The refusal of a model that carries one state from word to word."""
    return ChoiceError(
        f"{what} has no attention: it carries one state from word to word (Mamba, RWKV), so there are no weights to show."
    )


def weights_of(out: Any, family: str) -> dict[str, list[Tensor]]:
    """The attention weights that a class hands out itself, by stream."""
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    if family != "encoder-decoder":
        names = {family: "attentions"}
    layers = {stream: [w for w in (out.get(name) or ()) if w is not None] for stream, name in names.items()}
    return {stream: weights for stream, weights in layers.items() if weights}


def _describe(adopted: Adopted, recorded: _Probe) -> None:
    """Family, streams and places, from what was recorded; refuse what is no matrix of queries and keys."""
    what = type(adopted.module).__name__
    for stream, layers in recorded.weights.items():
        odd = next((w for w in layers if not isinstance(w, Tensor) or w.dim() != 4 or w.shape[-2:] != (4, 4)), None)
        if isinstance(odd, Tensor) and odd.dim() == 3:  # [batch, position, dimension]: what RWKV calls attentions are states
            raise no_attention(what)
        if odd is not None:
            raise ChoiceError(
                f"{what} attends in bands or blocks: its {stream} weights have the shape {tuple(getattr(odd, 'shape', ()))} for "
                "four tokens, not a row and a column for each. Such models cannot be shown."
            )
    if adopted.family == "encoder" and all(sees_no_future(w) for w in recorded.weights["encoder"]):
        adopted.family = "decoder"
        recorded.weights = {"decoder" if name == "encoder" else name: w for name, w in recorded.weights.items()}
        adopted.names = {part: "decoder" if name == "encoder" else name for part, name in adopted.names.items()}
    adopted.streams = {name: (len(w), max(layer.shape[1] for layer in w)) for name, w in recorded.weights.items()}
    adopted.width = recorded.width or getattr(adopted.module.config.get_text_config(), "hidden_size", 0)
    adopted.places = module_map.module_map(adopted.module, adopted.names)


def sees_no_future(weights: Tensor) -> bool:
    """Whether no query sees a later key."""
    return bool((weights.triu(1) == 0).all())


def _stream(path: str, family: str) -> str:
    if CROSSING.search(path):
        return "cross"
    return "decoder" if family == "encoder-decoder" and re.search(r"(^|\.)decoder(\.|$)", path) else "encoder"
