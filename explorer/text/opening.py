"""A tokenizer from whatever was given as one: ours, a file, or an object of the `tokenizers` or the `transformers` library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from explorer.errors import ChoiceError, FileError, repeated
from explorer.errors.kinds import called
from explorer.text.tokenizers import Tokenizer, parse, tokenizer_in

FILE, CONFIG, LARGEST = "tokenizer.json", "tokenizer_config.json", 20_000_000  # bytes of the settings
SPECIAL = {
    "mask": "mask_token_id", "pad": "pad_token_id", "cls": "cls_token_id", "sep": "sep_token_id", "begin": "bos_token_id",
    "end": "eos_token_id", "unknown": "unk_token_id",
}  # fmt: skip


@called("a tokenizer of the `tokenizers` or `transformers` library")
@runtime_checkable
class TheirTokenizer(Protocol):
    """A tokenizer of another library."""

    def get_vocab(self) -> dict[str, int]:
        """Its tokens and their ids."""


AnyTokenizer = (
    Tokenizer | str | Path | Any
)  # ours, the path of a tokenizer.json or of a folder with one, or an object of theirs


def as_tokenizer(given: AnyTokenizer) -> Tokenizer:
    """A tokenizer as ours: a copy, so that theirs stays as it is, with the special tokens that it names."""
    if isinstance(given, Tokenizer):
        return given
    if isinstance(given, (str, Path)):
        return _at(Path(given))
    core: Any = getattr(given, "backend_tokenizer", given)
    if not hasattr(core, "to_str"):
        raise ChoiceError(
            f"{repeated(given)} is not a tokenizer of the `tokenizers` library, the only kind that is read. Give a fast one of "
            "transformers', ex.load('bert').tokenizer, or the path of a tokenizer.json."
        )
    try:
        special = {ours: getattr(given, theirs, None) for ours, theirs in SPECIAL.items()}
    except RecursionError as error:  # an unknown token that is unknown itself
        raise ChoiceError(
            "The special tokens of this tokenizer cannot be read: its unknown token is none of its tokens. Name it in its settings."
        ) from error
    return parse(core.to_str(), {name: int(i) for name, i in special.items() if isinstance(i, int)})


def _at(path: Path) -> Tokenizer:
    """The tokenizer in a file, or in a folder; where transformers wrote its settings beside it, with the special tokens they name."""
    place = path / FILE if path.is_dir() else path
    if not place.is_file():
        raise FileError(f"There is no file {place}. A tokenizer is the path of a {FILE}, or ex.load('bert').tokenizer.")
    ours = tokenizer_in(place)
    named = _named_in(place.with_name(CONFIG))
    special = {name: ours.core.token_to_id(token) for name, token in named.items()}
    return Tokenizer(ours.core, special={name: i for name, i in special.items() if i is not None}) if special else ours


def _named_in(path: Path) -> dict[str, str]:
    """The special tokens that a tokenizer_config.json names; none where there is none."""
    try:
        settings = json.loads(path.read_text("utf-8")) if path.is_file() and path.stat().st_size < LARGEST else {}
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{path} cannot be read ({error}). Take it away, or write it again.") from error
    settings = settings if isinstance(settings, dict) else {}
    tokens = {ours: settings.get(theirs.removesuffix("_id")) for ours, theirs in SPECIAL.items()}
    contents = {name: token.get("content") if isinstance(token, dict) else token for name, token in tokens.items()}
    return {name: token for name, token in contents.items() if isinstance(token, str)}
