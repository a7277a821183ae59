"""What a command prints: in this process, which costs no second start of torch, or as a process by itself."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from explorer import cli

ROOT = Path(__file__).parent.parent


def typed(*arguments: str, folder: Path, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command as a student types it in a folder: how it ended and what it wrote."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    here = {"EXPLORER_HOME": str(home)} if home else {}
    with (
        contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["explorer", *arguments]), mock.patch.dict(os.environ, here),
    ):  # fmt: skip
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(list(arguments), code, out.getvalue(), err.getvalue())


def process(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The same command as a process by itself."""
    command = [sys.executable, "-m", "explorer", *arguments]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, timeout=120)
