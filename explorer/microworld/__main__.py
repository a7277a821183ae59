"""`python -m explorer.microworld` prints the card; `… FOLDER` writes it there, with a sample; `… FOLDER 2.0` that of a version."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from explorer.microworld.card import card, write
from explorer.microworld.versions import VERSION, WORLDS

if __name__ == "__main__":
    read = argparse.ArgumentParser(prog="python -m explorer.microworld", description=__doc__)
    read.add_argument(
        "folder", nargs="?", type=Path, help="where the card and a sample are written; without it the card is printed"
    )
    read.add_argument("version", nargs="?", choices=WORLDS, default=VERSION)
    options = read.parse_args()
    if options.folder is None:
        sys.stdout.write(card())
    else:
        write(options.folder, options.version)
