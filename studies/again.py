"""Which recorded results were measured of models that have changed since, and how they are measured again.

`python -m studies.again` lists every result that depends on a shipped model; `--run` measures those again that are out of
date, one after the other, each in a process of its own. A study that only trains its own models does not depend on a shipped one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from explorer.models.results import measured_models, out_of_date, results

COMMANDS: dict[str, tuple[str, ...]] = {  # of each result: the study that measures it, and what it is asked
    "blank-pairs": ("blank_pairs",),
    "finetuning-rates": ("finetuning_rates", "bert"),
    "finetuning-rates-tiny": ("finetuning_rates", "bert-tiny"),
    "heads-bert": ("attention_there", "bert"),
    "labels": ("labels",),
    "miniglue": ("miniglue",),
    "prompting": ("prompting",),
    "sentences": ("sentences",),
    "misled": ("misled",),  # after the Sentence-BERT that it asks, too
    "tagging": ("tagging",),
}


def table(names: Sequence[str]) -> str:
    """A line for each result: the models that it was measured of, and which of them have changed since."""
    rows = [(name, ", ".join(measured_models(name)), out_of_date(name)) for name in names]
    lines = [f"{name:18} {models:34} {'changed: ' + ', '.join(old) if old else 'in order'}" for name, models, old in rows]
    stale = [name for name, _, old in rows if old]
    return "\n".join([*lines, f"{len(stale)} of {len(rows)} out of date."])


def again(names: Sequence[str]) -> list[str]:
    """Measure these results again; the names of those whose study failed."""
    failed = []
    for name in names:
        module, *asked = COMMANDS[name]
        sys.stdout.write(f"{name}: measured again …\n")
        sys.stdout.flush()
        if subprocess.run([sys.executable, "-m", f"studies.{module}", *asked], check=False).returncode:
            failed.append(name)
    return failed


def main() -> int:
    """List the results, or measure again what is out of date."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--run", action="store_true", help="measure again what is out of date")
    asked, depend = read.parse_args(), [name for name in results() if measured_models(name)]
    stale = [name for name in COMMANDS if name in depend and out_of_date(name)]
    failed = again(stale) if asked.run else []
    sys.stdout.write(table(depend) + "\n")
    sys.stdout.write(f"Failed: {', '.join(failed)}\n" if failed else "")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
