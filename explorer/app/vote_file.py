"""The votes of a room in a file of the teacher's, where the room says `keep_votes = true`: a server that was killed goes on with them.

The file is in the folder that EXPLORER_HOME names, or .explorer in the home folder. It holds the teacher's key, the questions and under
random numbers what was voted: no names and no addresses. The teacher's button empties it, and a day after the last vote it is not read.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_type_hints

from explorer.app.vote import BOOTH, Ballot, Booth, counted_number
from explorer.errors import ExplorerError, FileError
from explorer.errors.kinds import check_kind
from explorer.models.folders import own_folder
from explorer.records.replacing import write_whole

DAY = 86_400  # seconds


def folder() -> Path:
    """Where rooms keep what they keep."""
    return own_folder().parent / "rooms"


def file_of(port: int) -> Path:
    """Where a room on this port keeps its votes."""
    return folder() / f"votes-{port}.json"


def read_kept(path: Path) -> dict[str, Any]:
    """What a room kept; nothing where there is none, where it is a day old, or where the file was damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError, ExplorerError):
        if time.time() - path.stat().st_mtime < DAY:
            kept = json.loads(path.read_text("utf-8"))
            every = [_ballot(given) for given in (*kept["before"], *([kept["now"]] if kept["now"] else []))]
            now = every.pop() if kept["now"] else None
            return {"key": check_key(kept["key"]), "before": every, "now": now}
    return {}


def _ballot(given: dict[str, Any]) -> Ballot:
    ballot = Ballot(**given)
    ballot.options, ballot.earlier = tuple(ballot.options), tuple(ballot.earlier)
    for name, kind in get_type_hints(Ballot).items():
        check_kind(name, getattr(ballot, name), kind)
    for typed in () if ballot.options else (ballot.answer, *ballot.votes.values()):
        counted_number(typed)
    return ballot


def check_key(key: object) -> str:
    """The teacher's key; one that is empty would open the teacher's pages to nobody."""
    if not isinstance(key, str) or not key:
        raise ValueError
    return key


def keep(booth: Booth, path: Path, key: str) -> None:
    """Write the votes; who is killed meanwhile leaves the file as it was."""
    kept = {"key": key, "now": asdict(booth.now) if booth.now else None, "before": [asdict(ballot) for ballot in booth.before]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(kept), mode=0o600)
    except OSError as error:
        raise FileError(f"The votes cannot be kept in {path} ({error}). Start the room without keep_votes.") from error


def go_on(path: Path, key: str, booth: Booth = BOOTH) -> None:
    """Take up the vote of the server before, and keep it from now on."""
    if kept := read_kept(path):
        booth.now, booth.before = kept["now"], kept["before"]
    booth._keep = lambda changed: keep(changed, path, key)
