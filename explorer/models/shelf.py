"""The shelf: which models open by name, where they lie, and what their files say of them. Files and JSON only, so a list costs little."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, FileError, unknown
from explorer.errors.kinds import checked
from explorer.models import run_folder
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.fetched import HUB, HUB_NAME, fetched_models, listed_models, name_on_shelf
from explorer.models.folders import data_folder, own_folder, read_json
from explorer.models.presets import size_of

WEIGHTS, CONFIG, PIECES = run_folder.WEIGHTS, "config.json", "tokenizer.json"
RETIRED = {  # models that were shipped once: what to open instead, and what trains one
    "distilbert-alone": "Open 'distilbert', whose card has its figures, or train one: explorer fit distilbert --set teacher=None.",
    "gpt2-tiny": "Open 'gpt2', or train one in five minutes: explorer fit gpt2.",
}


@dataclass(frozen=True)
class StoredModel:
    """A model in the store: its name, its folder, and whether it is shipped with the package or was fetched from the hub."""

    name: str
    folder: Path
    shipped: bool
    fetched: bool = False

    @property
    def whence(self) -> str:
        """Where it came from, in a word."""
        return "shipped" if self.shipped else "hub" if self.fetched else "yours"

    def about(self) -> dict[str, Any]:
        """Which preset it is, of which size, for how many steps it was trained, and which of them can be opened."""
        try:
            config = read_config(self.folder)
            run = run_folder.described(self.folder) if (self.folder / run_folder.RUN).is_file() else {"plan": {}}
        except FileError:
            return {"preset": "damaged", "size": "", "steps": None, "snapshots": ()}
        preset, shape = str(config.get("preset") or config.get("model_type") or "?"), config.get("architecture", {})
        shape = shape if isinstance(shape, dict) else {}
        return {
            "preset": preset,
            "size": size_of(preset, shape),
            "steps": run["plan"].get("steps"),
            "snapshots": run_folder.snapshots(self.folder),
        }


@cache_policy(CachePolicy(keeps=False))  # there may be more of them
def models() -> dict[str, StoredModel]:
    """Every model that opens by name: the shipped ones, your own, and those that `explorer get` fetched.

    Your own wins where it has the name of a shipped one. A fetched one never does: the real GPT-2 is "hub:gpt2".

    >>> "bert" in ex.models()
    True
    """
    stored: dict[str, StoredModel] = {}
    for folder, shipped in reversed(_shelves()):
        for place in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (place / CONFIG).is_file():
                stored[place.name] = StoredModel(place.name, place, shipped)
    for real, place in fetched_models().items():
        name = HUB + real if real in stored else real
        stored[name] = StoredModel(name, place, shipped=False, fetched=True)
    return stored


def stored_model(what: str) -> StoredModel | None:
    """The model of this name; of a fetched one also by the name that it has on the hub ("hub:gpt2", "openai-community/gpt2")."""
    for folder, shipped in _shelves() if what == Path(what).name else ():
        if os.path.isfile(folder / what / CONFIG):  # no error for a name that no file can have
            return StoredModel(what, folder / what, shipped)  # without looking at the others
    shelf = models()
    if what in shelf or not HUB_NAME.fullmatch(what.removeprefix(HUB)):
        return shelf.get(what)
    real = name_on_shelf(what)
    named = what.startswith(HUB) or real != what
    fetched = (shelf[name] for name in (HUB + real, real) if named and name in shelf and shelf[name].fetched)
    return next(fetched, None)


def _shelves() -> tuple[tuple[Path, bool], ...]:
    """The folders of models by name, the one that wins first, and whether its models are shipped."""
    return (own_folder(), False), (data_folder() / "models", True)


def shelf_folder(name: str) -> Path | None:
    """Where the model of that name lies; None where there is none."""
    stored = stored_model(name)
    return None if stored is None else stored.folder


def is_path(text: str) -> bool:
    """Whether a text is a path and no name: it has a separator or begins with a dot."""
    return text.startswith(".") or os.sep in text or "/" in text


def folder_of(what: str | Path) -> Path:
    """The folder of a model or a run: by its name, or by its path."""
    text = str(what)
    if isinstance(what, str) and (stored := stored_model(text)) is not None:
        return stored.folder
    if isinstance(what, Path) or is_path(text):
        return Path(os.path.expanduser(text))
    if text in RETIRED:
        raise ChoiceError(f"{text} is no longer shipped. {RETIRED[text]}")
    error = unknown("model", text, models())
    if os.path.isdir(text):
        raise ChoiceError(f"{error} The folder {text} of this place is opened by its path: ./{text}.")
    if HUB_NAME.fullmatch(text):
        some = f"explorer get {text}" if text in listed_models() else "explorer get"
        raise ChoiceError(f"{error} Models of the Hugging Face hub: hub:{text} opens one, `{some}` keeps real ones here.")
    raise error


@checked
def snapshots_of(what: str | Path) -> tuple[int, ...]:
    """The steps at which a model or a run opens (`ex.load(what, step=…)`), by its name or its folder.

    >>> ex.training.snapshots("bert-tiny") == tuple(sorted(ex.training.snapshots("bert-tiny")))
    True
    """
    return run_folder.snapshots(folder_of(what))


def read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a model folder."""
    path = folder / CONFIG
    held = os.path.isfile(path)  # no error for a name that no file can have
    if not held and os.path.isfile(folder / run_folder.RUN):
        raise FileError(
            f"The run in {folder} is not finished, so its model is not there yet. Go on with it, or open a snapshot with "
            f"step=…; there are: {', '.join(map(str, run_folder.snapshots(folder))) or 'none'}."
        )
    if not held:
        raise FileError(f"There is no model in {folder}: a model folder holds {CONFIG}, {WEIGHTS} and {PIECES}.")
    return read_json(path)
