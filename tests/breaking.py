"""What tries to break the explorer, in one report: `make break`. Ends with 1 if anything was lost.

It runs the tests below in full, or a sample with `--quick`: those of the findings, of files, of crashes, of hostile arguments and
addresses, of values of another kind, of what strangers bring, and of pages that were edited. It counts every case: how many were
tried, survived (a result in order or an error of one line), and lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
TESTS = (
    "hostile", "hostile_files", "crashes", "redteam", "settings", "refusing", "classroom", "caches", "trial", "serve", "records", "shelf",
    "task_files", "saved_pages", "own_texts", "vote", "brought", "live", "live_homes", "learning", "library", "corpora", "tray", "homework",
    "live_site", "training", "making", "same_numbers", "constraints",
)  # fmt: skip


def tests(book: Path, quick: bool, chosen: list[str]) -> ElementTree.Element:
    """Run the tests, which write each case into the book; their report."""
    report = book.with_suffix(".xml")
    here = {**os.environ, "EXPLORER_BREAK": str(book), "EXPLORER_TEST_ALL": "0" if quick else "1"}
    files = [f"tests/test_{name}.py" for name in chosen or TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *files]
    subprocess.run(command, cwd=ROOT, env=here, check=False)
    return ElementTree.parse(report).getroot()


def counted(book: Path) -> dict[str, Counter[bool]]:
    """Of each kind of case, how many survived and how many did not."""
    counts: dict[str, Counter[bool]] = {}
    for line in book.read_text("utf-8").splitlines() if book.is_file() else ():
        what, survived = json.loads(line)
        counts.setdefault(what, Counter())[survived] += 1
    return counts


def by_tests(root: ElementTree.Element) -> Counter[bool]:
    """Of the tests themselves, how many passed and how many did not."""
    cases = [case for case in root.iter("testcase") if case.find("skipped") is None]
    return Counter(case.find("failure") is None and case.find("error") is None for case in cases)


def table(counts: dict[str, Counter[bool]]) -> str:
    """The report: a line for each kind."""
    lines = [f"{'what':<40} {'tried':>8} {'survived':>9} {'lost':>6}"]
    for what, results in counts.items():
        lines.append(f"{what:<40} {results.total():>8,} {results[True]:>9,} {results[False]:>6,}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run everything, print the report, and say whether something was lost."""
    began, quick = time.monotonic(), "--quick" in arguments
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book.jsonl"
        root = tests(book, quick, [name for name in arguments if not name.startswith("-")])
        counts = counted(book) | {"tests": by_tests(root)}
    lost = sum(results[False] for results in counts.values())
    print(table(counts))
    print(f"{time.monotonic() - began:.0f} s, {'a sample' if quick else 'in full'}. Lost: {lost}.")
    return int(lost > 0 or not counts["tests"].total())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
