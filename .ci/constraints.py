"""Write constraints.txt: the newest versions that pyproject.toml allows, as pip resolves them for this Python; nothing is installed.

`make constraints` runs it. `--oldest` prints instead the lowest version that pyproject.toml names for each requirement: what
`make oldest` installs and checks.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
HEAD = (
    "# The exact versions everything is tested with: `pip install -c constraints.txt …`. On a GPU machine the same pins give the CUDA "
    "build of torch.\n"
)
OWN = "pretraining-explorer"
DEVICES = re.compile(r"nvidia-|cuda-|triton$|pytorch-triton")  # what a CUDA build of torch brings along
LOWEST = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9][0-9A-Za-z.]*)")


def pinned(report: dict[str, Any]) -> str:
    """The lines of constraints.txt from pip's report on an installation: local builds and what belongs to one device left out."""
    found = {part["metadata"]["name"]: part["metadata"]["version"].partition("+")[0] for part in report["install"]}
    kept = sorted((name for name in found if name != OWN and not DEVICES.match(name.lower())), key=str.lower)
    return HEAD + "".join(f"{name}=={found[name]}\n" for name in kept)


def oldest(project: dict[str, Any]) -> str:
    """Each requirement of the explorer at the lowest version that it names."""
    lines = (LOWEST.match(requirement) for requirement in project["dependencies"])
    return "".join(f"{line[1]}=={line[2]}\n" for line in lines if line)


def resolved() -> dict[str, Any]:
    """What pip would install for everything: the explorer, its checks, its measurements and data sets of the hub."""
    return pip_report("--ignore-installed", f"{ROOT}[dev,bench,hub,plot]")


def pip_report(*asked: str) -> dict[str, Any]:
    """What pip would install if it were asked for this, as it reports it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", str(report), *asked]
        subprocess.run(command, check=True, timeout=1800)
        made: dict[str, Any] = json.loads(report.read_text("utf-8"))
        return made


def main() -> None:
    """Write the file, or print the lowest versions."""
    if "--oldest" in sys.argv:
        sys.stdout.write(oldest(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]))
        return
    place = ROOT / "constraints.txt"
    before = place.read_text("utf-8").splitlines() if place.is_file() else []
    after = pinned(resolved())
    place.write_text(after, "utf-8")
    changed = sorted(set(after.splitlines()) - set(before))
    sys.stdout.write(f"constraints.txt: {after.count('==')} versions, {len(changed)} of them new.\n")


if __name__ == "__main__":
    main()
