"""ELMo: words from their letters, two separate language models, and a mix of their layers.

    letters → filters, max-pooling → highway → projection: x, the same word always has the same x
    x → forward LSTMs, which have read the words before → which word comes next?
    x → backward LSTMs, which have read the words after → which word came before?

Both directions share the letters and the softmax, as in the paper. The two directions of a layer are only concatenated:
h_k0 = [x_k; x_k] and h_kj = [→h_kj; ←h_kj].
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.errors import ChoiceError, check_whole
from explorer.errors.kinds import checked
from explorer.nn import tap
from explorer.nn.widest import cudnn_tf32
from explorer.records import TapPlace
from explorer.text.letters import FILL

LETTERS = FILL + 1  # how many different letters there are
SMALL = ((1, 16), (2, 32), (3, 48), (4, 64), (5, 64))
CARRY = 1.0  # a highway layer begins by passing most of its input through
LOUD = {"project.weight": 5.0, "weight_hr": 6.0}  # these are initialised so many times larger than other weights


@dataclass(frozen=True)
class ElmoConfig:
    """The configuration of an ELMo: `filters` are (letters wide, how many); `hidden` is the cell size of an LSTM, `dim` its output
    size.
    """

    vocab: int
    family: str = "bilm"
    dim: int = 96
    hidden: int = 192
    layers: int = 2
    length: int = 128
    letters: int = 16  # the dimension of the embedding of a letter
    filters: tuple[tuple[int, int], ...] = SMALL
    highways: int = 2
    dropout: float = 0.0
    segments: ClassVar[int] = 0  # what a Transformer may have and this has not
    replaced: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", tuple((int(wide), int(many)) for wide, many in self.filters))
        for name in ("vocab", "dim", "hidden", "layers", "length", "letters"):
            if getattr(self, name) < 1:
                raise ChoiceError(f"{name}={getattr(self, name)!r} must be at least 1.")
        if self.hidden <= self.dim:
            raise ChoiceError(
                f"hidden={self.hidden} must be more than dim={self.dim}: each LSTM outputs fewer numbers than its cell holds."
            )
        if not self.filters or any(not 1 <= wide <= 7 or many < 1 for wide, many in self.filters):
            raise ChoiceError(f"filters={self.filters!r} must be pairs (letters wide, from 1 to 7; how many, at least 1).")
        if not 0 <= self.dropout < 1:
            raise ChoiceError(f"dropout={self.dropout!r} must be a probability: from 0 to below 1.")

    @property
    def streams(self) -> dict[str, tuple[int, int]]:
        """There is no attention that could be looked at or edited."""
        return {}


class Highway(nn.Module):
    """y = g ∘ x + (1 − g) ∘ relu(W x + b), g = σ(W_g x + b_g): what to pass through and what to compute."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.make, self.gate = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        """From [..., dim] to the same shape."""
        through = torch.sigmoid(self.gate(x))
        return through * x + (1 - through) * torch.relu(self.make(x))


class Characters(nn.Module):
    """A word from its letters: convolution filters over them, max-pooling, and highway layers."""

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, config.letters, padding_idx=0)
        self.filters = nn.ModuleList(nn.Conv1d(config.letters, many, wide) for wide, many in config.filters)
        filters = sum(many for _, many in config.filters)
        self.highways = nn.ModuleList(Highway(filters) for _ in range(config.highways))
        self.project = nn.Linear(filters, config.dim)

    def answers(self, letters: Tensor) -> list[Tensor]:
        """All activations of every filter, by width: [word, filter, position of its first letter]."""
        x = self.letters(letters).transpose(1, 2)  # [word, width of a letter, place]
        return [convolve(x) for convolve in self.filters]

    def forward(self, letters: Tensor) -> Tensor:
        """From the letters [word, letter] of words to their vectors [word, dim]."""
        strongest = torch.cat([answer.amax(-1) for answer in self.answers(letters)], dim=-1)
        x = torch.relu(strongest)  # [word, filter]
        for highway in self.highways:
            x = highway(x)
        vectors: Tensor = self.project(x)
        return vectors


def needed(letters: Tensor, widest: int) -> Tensor:
    """The letters [word, letter] without padding that changes nothing.

    After its longest word a batch keeps as much padding as the widest filter is wide: every filter still sees padding alone once, and
    what comes after is the same again.
    """
    longest = int(((letters != FILL) & (letters != 0)).sum(-1).max())
    return letters[:, : min(letters.shape[1], longest + widest)]


def once(letters: Tensor) -> tuple[Tensor, Tensor]:
    """Every different word once [word, letter], and which of them is at each position: a text repeats its words.

    Words are identified by a hash of their letters. Should two ever share it, every position counts as a separate word.
    """
    flat = letters.flatten(0, -2)
    weights = torch.randint(1, 1 << 62, (flat.shape[1],), generator=torch.Generator().manual_seed(5)).to(flat.device)
    _, which = torch.unique((flat * (weights | 1)).sum(-1), return_inverse=True)
    first = torch.full((int(which.max()) + 1,), len(flat), device=flat.device)
    first.scatter_reduce_(0, which, torch.arange(len(flat), device=flat.device), "amin")
    words = flat[first]
    if not torch.equal(words[which], flat):
        return flat, torch.arange(len(flat), device=flat.device)
    return words, which


def lstm(dim: int, hidden: int) -> nn.LSTM:
    """An LSTM with cell size `hidden` and output size `dim`. PyTorch warns once in a process that one library of two has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = nn.LSTM(dim, hidden, proj_size=dim, batch_first=True)
        layer(torch.zeros(1, 1, dim))
    return layer


class Direction(nn.Module):
    """Stacked LSTMs that read in one direction; from the second on with a residual connection.

    Each LSTM has cell size `hidden` and output size `dim`; the output is also its recurrent input at the next word.
    """

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(lstm(config.dim, config.hidden) for _ in range(config.layers))
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> list[Tensor]:
        """From [batch, position, dim] to every layer's outputs, each of that shape."""
        states: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            out, _ = layer(self.drop(x))
            x = out if number == 0 else out + x
            states.append(x)
        return states


def turned(x: Tensor, lengths: Tensor) -> Tensor:
    """Each row [batch, position, dim] from its last real position to its first; padding stays at the right end."""
    place = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    other = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    return x.gather(1, other[..., None].expand_as(x))


@dataclass(frozen=True)
class BiLMStates:
    """The hidden states of a text: the words' vectors, then each layer, by direction; all [batch, position, dim]."""

    words: Tensor
    forward: Sequence[Tensor]
    backward: Sequence[Tensor]

    @property
    def layers(self) -> Tensor:
        """h_k0, h_k1, …: both directions concatenated, [layer, batch, position, 2 dim]."""
        pairs = [(self.words, self.words), *zip(self.forward, self.backward, strict=True)]
        return torch.stack([torch.cat(pair, dim=-1) for pair in pairs])


class BiLM(nn.Module):
    """Two language models over the same letters and with the same softmax; neither reads a state of the other."""

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__()
        self.config = config
        self.characters = Characters(config)
        self.onward, self.back = Direction(config), Direction(config)
        self.head = nn.Linear(config.dim, config.vocab)

    @property
    def widest(self) -> int:
        """How many letters the widest filter sees."""
        return max(wide for wide, _ in self.config.filters)

    def words(self, letters: Tensor) -> Tensor:
        """The vectors of words from their letters: from [batch, position, letter] to [batch, position, dim]."""
        if letters.is_cuda:  # to find words that are alike, or how long the longest is, a GPU would be waited for
            plain: Tensor = self.characters(letters.long().flatten(0, -2)).unflatten(0, letters.shape[:-1])
            return plain
        different, which = once(letters.long())
        vectors: Tensor = self.characters(needed(different, self.widest))
        # not vectors[which]: a lookup adds up the gradients of a word's positions in a fixed order, so that a run repeats to the bit
        read: Tensor = functional.embedding(which, vectors).unflatten(0, letters.shape[:-1])
        return read

    def forward(self, letters: Tensor, attention_mask: Tensor | None = None) -> BiLMStates:
        """Every state of texts given by the letters of their words; `attention_mask` is False at padding, at the right end."""
        with cudnn_tf32(False):
            x = self.words(letters)
            count = torch.full((len(x),), x.shape[1], device=x.device) if attention_mask is None else attention_mask.sum(-1)
            onward = self.onward(x)
            back = [turned(state, count) for state in self.back(turned(x, count))]
        for name, states in (("characters", [x]), ("forward", onward), ("backward", back)):
            for number, state in enumerate(states):
                tap.tap(TapPlace.HIDDEN, name, number, x=state)
        return BiLMStates(x, onward, back)

    def outputs(self, states: BiLMStates) -> dict[str, Tensor]:
        """Scores over the vocabulary: row i of `lm` is about word i + 1, row i of `backward` about word i − 1."""
        return {"lm": self.head(states.forward[-1]), "backward": self.head(states.backward[-1])}


MOST_LAYERS = 10_000  # that a mix may weigh


class ScalarMix(nn.Module):
    """ELMo_k = γ Σ_j s_j h_kj with s = softmax(w): the mix of layers that one task reads. It begins with equal weights and γ = 1.

    With `norm`, each layer's vector is first brought to mean 0 and deviation 1, independently of the rest of the batch.

    >>> mix = ex.training.ScalarMix(3)
    >>> mix.weights.shape
    torch.Size([3])
    """

    @checked
    def __init__(self, layers: int, *, norm: bool = False) -> None:
        super().__init__()
        check_whole("layers", layers, 1, MOST_LAYERS)
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))
        self.norm = norm

    @property
    def shares(self) -> Tensor:
        """s_j: one weight for each layer, which sum to one."""
        return self.weights.softmax(0)

    def forward(self, layers: Tensor) -> Tensor:
        """From [layer, ..., dim] to [..., dim]."""
        if self.norm:
            layers = functional.layer_norm(layers, layers.shape[-1:])
        mixed: Tensor = self.gamma * torch.tensordot(self.shares, layers, 1)
        return mixed


def initialise(module: BiLM, seed: int) -> BiLM:
    """Initialise every weight from `seed`: uniform within ± 1/√(input size), letters from a normal distribution, biases 0.

    The bias of every forget gate is 1, and every highway layer begins by passing its input through. An LSTM's cell passes a gate and
    a tanh before the output, which makes values smaller. So the two projections begin larger, and a text changes the scores from the
    first step on; with bounds like the others' it takes about three times as many steps to the same loss.
    """
    rng = torch.Generator().manual_seed(seed)
    hidden = module.config.hidden
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if weight.dim() == 1:
                weight.zero_()
            elif name == "characters.letters.weight":
                weight.normal_(generator=rng)[0] = 0
            else:
                bound = weight[0].numel() ** -0.5 * next((times for part, times in LOUD.items() if part in name), 1.0)
                weight.uniform_(-bound, bound, generator=rng)
            if "bias_ih" in name:
                weight[hidden : 2 * hidden] = 1.0
            if name.endswith("gate.bias"):
                weight.fill_(CARRY)
    return module
