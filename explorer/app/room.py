"""The settings of the room that this process serves, as JSON. They hold the teacher's key, so they are never in its environment."""

from __future__ import annotations

import os
import sys
import tempfile

ON_INPUT = "--room"  # the first argument of a server that reads them from its standard input
_SETTINGS = {"room": ""}


def settle(settings: str) -> None:
    """Make this the process of a room with these settings."""
    _SETTINGS["room"] = settings


def settled() -> str:
    """The settings of the room that this process is for; empty where it is somebody's own."""
    return _SETTINGS["room"]


def hand_over() -> str:
    """Put the settings on the standard input of the server that this process becomes or starts; the argument that says so."""
    with tempfile.TemporaryFile() as file:  # a pipe holds 64 kB, and a teacher's own questions may be longer
        file.write(settled().encode())
        file.seek(0)
        os.dup2(file.fileno(), 0)
    return ON_INPUT


def take_over() -> None:
    """In that server: read the settings, where there are any."""
    if sys.argv[1:2] == [ON_INPUT]:
        del sys.argv[1]
        settle(sys.stdin.read())
