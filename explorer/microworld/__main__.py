"""`python -m explorer.microworld` prints the card; `… FOLDER` writes it there, with a sample; `… FOLDER 1.1` that of a version."""

from __future__ import annotations

import sys
from pathlib import Path

from explorer.microworld.card import card, write

if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]), *sys.argv[2:3])
    else:
        sys.stdout.write(card())
