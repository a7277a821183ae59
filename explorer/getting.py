"""The command `explorer get`: real models, fetched once from the hub, carried to a room without a network, and listed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.errors import ChoiceError
from explorer.options import Json, say


def get(
    names: Annotated[list[str] | None, typer.Argument(help="Names from the list, or any other id on the hub.")] = None,
    to: Annotated[Path | None, typer.Option("--to", help="Put them into this folder, to take along.")] = None,
    source: Annotated[Path | None, typer.Option("--from", help="Take them from such a folder; no network is used.")] = None,
    as_json: Json = False,
) -> None:
    """Fetch real models from the Hugging Face hub, once; without names: list some. A fetch that was cut goes on."""
    from explorer.models import fetched

    if to is not None and source is not None:
        raise ChoiceError("--to writes a folder that is carried, --from reads one. Give one of them.")
    wanted = names or list(fetched.carried_models(source) if source is not None else fetched.fetched_models() if to else ())
    if not wanted:
        say(listing(), as_json, _table(listing()))
        return
    rows = []
    for name in dict.fromkeys(map(fetched.name_on_shelf, wanted)):
        rows.append(_row(name, put(name, to, source, quiet=as_json), to))
        if not as_json:
            say(None, False, rows[-1]["says"])
    if as_json:
        say(rows, True, "")


def put(name: str, to: Path | None, source: Path | None, *, quiet: bool = False) -> Path:
    """The folder of a model: copied where it lies on this machine, else fetched."""
    from huggingface_hub.utils import disable_progress_bars

    from explorer.models import fetched
    from explorer.models.hub import carrying, fetching

    if quiet or not sys.stderr.isatty():
        disable_progress_bars()
    if source is not None:
        return carrying.copy_model(name, source)
    if to is not None and name in fetched.fetched_models():
        return carrying.copy_model(name, fetched.fetched_folder(), to)
    return fetching.fetch_model(name, to)


def listing() -> list[dict[str, Any]]:
    """The models that are proposed, and the others that were fetched, each with whether it is there."""
    from explorer.models import fetched

    there, listed = fetched.fetched_models(), fetched.listed_models()
    rows = [
        {"name": m.name, "id": m.id, "family": m.family, "megabytes": m.megabytes, "licence": m.licence, "about": m.about}
        for m in listed.values()
    ]
    others = {"family": "", "megabytes": None, "licence": "", "about": "fetched by its id"}
    rows += [{"name": name, "id": name, **others} for name in there if name not in listed]
    return [row | {"fetched": row["name"] in there} for row in rows]


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"{row['name']:26} {row['family']:16} {'' if row['megabytes'] is None else row['megabytes']:>4} MB  {row['licence']:11} "
        f"{'here' if row['fetched'] else '':5} {row['about']}"
        for row in rows
    ]
    return "\n".join(
        [*lines, "", "explorer get NAME … fetches them once, and any other id on the hub that transformers opens."]
    )


def _row(name: str, folder: Path, to: Path | None) -> dict[str, Any]:
    """What became of one model: where it lies, what it takes, and how it opens."""
    from explorer.models.shelf import models

    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    opens = next((shelf for shelf, stored in models().items() if stored.folder == folder), "")
    says = f"{name}: {size:,.0f} MB in {folder}." + (f" It opens as ex.load({opens!r})." if opens else "")
    if opens and opens != name:
        says += f" ({name!r} alone is the model of that name which was there before.)"
    if to is not None:
        says += f" In the other room: explorer get --from {to.name} {name}."
    return {"name": name, "folder": str(folder), "megabytes": round(size, 1), "opens as": opens, "says": says}
