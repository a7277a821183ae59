"""Write wheels/requirements.txt: every wheel of the folder with its version and its SHA-256.

What is carried elsewhere then installs as it was packed, or not at all (`pip install --require-hashes`).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from packaging.utils import parse_wheel_filename

SAYS = (
    "There: python3 -m venv .venv && .venv/bin/pip install --no-index --find-links {folder} --require-hashes -r {folder}/requirements.txt "
    "&& .venv/bin/explorer app\n"
)


def requirements(folder: Path) -> str:
    """A line for each wheel: its name, its version, and the checksum of its file."""
    lines = []
    for path in sorted(folder.glob("*.whl")):
        name, version, _, _ = parse_wheel_filename(path.name)
        lines.append(f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n")
    return "".join(lines)


def main(folder: Path) -> None:
    """Write the file, and say what installs from it."""
    (folder / "requirements.txt").write_text(requirements(folder), "utf-8")
    sys.stdout.write(SAYS.format(folder=folder.name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
