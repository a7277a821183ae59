"""Every recorded result and the study that measures it: which were measured of models that have changed since.

`python -m studies.again` lists every result with its command and the shipped models that it was measured of; `--run` measures those
again that are out of date, one after the other, each in its own process; `--cards` writes all cards again from the records.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from explorer.models import store
from explorer.models.results import measured_models, out_of_date, result, results
from studies.study import Study


class ResultSource(NamedTuple):
    """How a recorded result is measured: its study, and what follows `python -m` on the command line."""

    study: Study
    command: tuple[str, ...]


@lru_cache(maxsize=1)
def every() -> dict[str, ResultSource]:
    """Every recorded result with how it is measured: all that the modules of this folder list as `STUDIES`."""
    sources: dict[str, ResultSource] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if "\nSTUDIES = " in path.read_text("utf-8"):
            listed: dict[str, Study] = import_module(f"studies.{path.stem}").STUDIES
            for word, study in listed.items():
                words = () if list(listed) == [study.name] else (word,)
                sources |= dict.fromkeys((study.name, *study.beside), ResultSource(study, (f"studies.{path.stem}", *words)))
    return sources


def listed(names: Sequence[str]) -> str:
    """A line for each result: its command, the models that it was measured of, and which of them have changed since."""
    rows = [(name, " ".join(every()[name].command), ", ".join(measured_models(name)), out_of_date(name)) for name in names]
    lines = [f"{name:22} {command:32} {of:34} {'changed: ' + ', '.join(old) if old else ''}" for name, command, of, old in rows]
    stale = [name for name, _, _, old in rows if old]
    return "\n".join([*(line.rstrip() for line in lines), f"{len(stale)} of {len(rows)} out of date."])


def again(names: Sequence[str]) -> list[str]:
    """Measure these results again; the names of those whose study failed."""
    failed = []
    for name in names:
        sys.stdout.write(f"{name}: measured again …\n")
        sys.stdout.flush()
        if subprocess.run([sys.executable, "-m", *every()[name].command], check=False).returncode:
            failed.append(name)
    return failed


def write_cards() -> None:
    """Write the card of every recorded result."""
    for name in results():
        (store.data_folder() / "results" / name / store.CARD).write_text(every()[name].study.card_of(result(name)), "utf-8")


def main() -> int:
    """List the results, measure again what is out of date, or write the cards."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--run", action="store_true", help="measure again what is out of date")
    options.add_argument("--cards", action="store_true", help="write all cards again from the records")
    chosen = options.parse_args()
    if chosen.cards:
        write_cards()
    failed = again([name for name in results() if out_of_date(name)]) if chosen.run else []
    sys.stdout.write(listed(results()) + "\n")
    sys.stdout.write(f"Failed: {', '.join(failed)}\n" if failed else "")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
