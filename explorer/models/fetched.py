"""Real models that were fetched from the Hugging Face hub: which ones are proposed, where they lie, and what each is called.

Each is a folder of its own beside a user's own models: a plain checkpoint, and `hub.json`, which says where it came from and what the
checksum of each file is. Files and JSON only: nothing here asks a network.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, FileError
from explorer.models.folders import own_folder, read_json
from explorer.records.summary import shortened

HUB, ORIGIN = "hub:", "hub.json"
HUB_NAME = re.compile(r"(?!.*(\.\.|--))[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")
SLASH = "--"  # in the name of a folder, as in the hub's own cache; no name on the hub has it


@dataclass(frozen=True)
class ListedModel:
    """A real model that is proposed: its name here and on the hub, its family, the size of its weights, and its licence."""

    name: str
    id: str
    family: str
    megabytes: int
    licence: str
    about: str


@cache
def listed_models() -> Mapping[str, ListedModel]:
    """The real models that are proposed, by their names here."""
    entries = tomllib.loads(Path(__file__).with_name("listed.toml").read_text("utf-8"))
    return {name: ListedModel(name, **entry) for name, entry in entries.items()}


def fetched_folder() -> Path:
    """Where fetched models lie: beside your own."""
    return own_folder().parent / "fetched"


def name_on_shelf(given: str) -> str:
    """What a model is called here, by its name on the hub: a proposed one has a short name.

    >>> name_on_shelf("hub:gpt2"), name_on_shelf("distilbert/distilgpt2"), name_on_shelf("org/model")
    ('gpt2', 'distilgpt2', 'org/model')
    """
    name = given.removeprefix(HUB)
    if not HUB_NAME.fullmatch(name):
        raise ChoiceError(f"{shortened(name)!r} is not a name on the hub. Write it as hub:name or org/model.")
    return next((model.name for model in listed_models().values() if model.id == name), name)


def id_on_hub(name: str) -> str:
    """What a model is called on the hub, by its name here."""
    listed = listed_models().get(name)
    return name if listed is None else listed.id


def folder_for(name: str, shelf: Path | None = None) -> Path:
    """The folder of a fetched model, whether it is there or not."""
    return (shelf or fetched_folder()) / name.replace("/", SLASH)


def fetched_models(shelf: Path | None = None) -> dict[str, Path]:
    """The fetched models by their names, each with its folder."""
    shelf = shelf or fetched_folder()
    places = sorted(shelf.iterdir()) if shelf.is_dir() else []
    return {place.name.replace(SLASH, "/"): place for place in places if (place / ORIGIN).is_file()}


def carried_models(source: Path) -> dict[str, Path]:
    """The models that lie in a folder which `explorer get --to` wrote; an error where there is none."""
    there = fetched_models(source)
    if not there:
        raise FileError(f"There is no fetched model in {source}. `explorer get --to {source} NAME …` puts some there.")
    return there


def origin_of(folder: Path) -> dict[str, Any]:
    """Where a fetched model came from: its id and revision on the hub, and the checksums of its files; empty where it is unknown."""
    try:
        origin = read_json(folder / ORIGIN)
    except FileError:
        return {}
    return origin if isinstance(origin.get("files"), dict) else {}
