"""What strangers bring to a room is opened in a process of its own first, which has bounds of memory and time, and none of the server's
secrets. One that aborts (an allocator does, and nothing in Python can catch it) then ends that process alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from explorer.errors import ExplorerError, FileError

MEMORY, SECONDS, WAIT = 2 << 30, 60, 300  # bytes on top of what a process starts with; of a processor; by the clock
REFUSED = 3  # how it ends where the checkpoint is refused with a sentence
INHERITED = (
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "PYTHONPATH",
    "EXPLORER_HOME",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_HUB_OFFLINE",
    "SYSTEMROOT",
)
TEXT = "The dog did not cross the river because it was too tired."


def check_opens(what: str | Path, shown: str, memory: int = MEMORY) -> None:
    """Open a checkpoint, and have it read a sentence, in a process of its own; the error that says so where that fails."""
    command = [sys.executable, "-m", "explorer.app.trial", str(what), str(memory), str(SECONDS)]
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ} | {"OMP_NUM_THREADS": "1"}
    try:
        tried = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, timeout=WAIT, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise FileError(f"{shown} was not open after {WAIT} seconds. It is not opened here.") from None
    said = tried.stdout.decode("utf-8", "replace").strip().splitlines()
    if tried.returncode == REFUSED and said:
        raise FileError(said[-1])
    if tried.returncode:
        why = (
            "it took too long"
            if -tried.returncode in (signal.SIGXCPU, signal.SIGKILL)
            else "it took too much memory, or aborted"
        )
        raise FileError(f"{shown} ended the process in which it was tried first: {why}. It is not opened here.")


def main(what: str, memory: int, seconds: int) -> None:
    """In that process: its bounds, then the checkpoint."""
    from explorer.analysis.trace import trace
    from explorer.models.load import STORED, load

    _bound(memory, seconds)
    try:
        model = load(what, device="cpu", precision=STORED)
        model.tokens(TEXT)
        with suppress(ExplorerError):  # what it cannot show is said where it is asked for
            trace(model, TEXT)
    except (ExplorerError, MemoryError) as error:
        sys.stdout.write(f"{str(error) or 'It takes more memory than a checkpoint of this size may take.'}\n")
        sys.exit(REFUSED)


def _bound(memory: int, seconds: int) -> None:
    """The most that this process may take, where the system has such bounds."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
