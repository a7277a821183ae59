"""The same command in several processes, which PyTorch's launcher starts and connects."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from types import FrameType

from explorer.errors import ChoiceError, check_whole
from explorer.training.processes import wanted

STOPPED = 130  # the exit code of who was asked to stop
ASKING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def in_processes(count: int, arguments: list[str]) -> int | None:
    """Start a command of ours in so many processes and wait for them: their exit code. None: this is one of so many already.

    Ctrl-C asks each of them once to stop.
    """
    check_whole("processes", count, 1)
    if count in (1, wanted()):
        return None
    if wanted() > 1:
        raise ChoiceError(
            f"There are {wanted()} processes here, not {count}. Leave --processes out, or start torchrun with {count}."
        )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(count), "-m", "explorer"]
    threads = str(max(1, (os.cpu_count() or 1) // count))
    # in a session of its own: a terminal sends Ctrl-C to whoever is in its own, and the second one would interrupt
    child = subprocess.Popen([*command, *arguments], env={"OMP_NUM_THREADS": threads, **os.environ}, start_new_session=True)
    return _waited(child)


def _waited(child: subprocess.Popen[bytes]) -> int:
    """The exit code of the launcher, which hands on to its processes that they are asked to stop."""
    signals: list[int] = []

    def ask(number: int, _: FrameType | None) -> None:
        if not signals:
            child.send_signal(signal.SIGTERM)
        signals.append(number)

    before = {number: signal.signal(number, ask) for number in ASKING}
    try:
        code = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return STOPPED if signals else code
