"""The server of the app, before it has shown anybody a page."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

THREADS = "import explorer.app.serve, torch; print(torch.get_num_threads())"


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "2"}, "2")])
def test_a_page_is_computed_by_one_thread_unless_somebody_asks_for_more(given: dict[str, str], threads: str) -> None:
    """Beside others who compute, two threads wait for each other: a new sentence took ten times the processor time."""
    here = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    answer = subprocess.run([sys.executable, "-c", THREADS], env=here | given, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == threads
