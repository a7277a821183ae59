"""The server of the app, which asks no address outside for the address of this machine: `python -m explorer.app.serve run app.py`."""

from __future__ import annotations

import os
from importlib import import_module

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # before PyTorch is imported: the visitors share the processors, and a short text needs one

from explorer.app import mishap, streamlit_inside
from explorer.app.compressed import Compressed
from explorer.app.early import Early
from explorer.app.guard import Guard
from explorer.app.room import take_over

# imported by the first page: its visitor does not wait for them
NEEDED = ("explorer.views.live.figure", "explorer.training.finetune", "pandas")
ENDS = 10.0  # seconds after which a server that was asked to end is gone, whatever it computes


def main() -> None:
    """The same as `streamlit`; `explorer app` says itself where it is."""
    take_over()
    for module in NEEDED:
        import_module(module)
    streamlit_inside.keep_inside()
    streamlit_inside.say_errors(mishap.say)
    streamlit_inside.put_before(Early)
    streamlit_inside.put_before(Compressed)
    streamlit_inside.put_before(Guard)
    streamlit_inside.end_within(ENDS)
    streamlit_inside.command()(prog_name="streamlit")


if __name__ == "__main__":
    main()
