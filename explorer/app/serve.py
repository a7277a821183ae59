"""Streamlit's own command, which asks no address outside for the address of this machine: `python -m explorer.app.serve run app.py`.

Streamlit does so when it prints where it is, and when a page of somebody else's tries to reach it. It also advertises tools for
programmers, in the terminal and on the page, where a class would read it: `explorer app` says itself where it is.
"""

from __future__ import annotations

import os

from explorer.app.room import take_over

QUIET = "STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE"


def keep_inside() -> None:
    """Let nothing be asked outside: this machine is known by its local addresses alone."""
    from streamlit import net_util  # here: who only reads the limits of a room needs no Streamlit

    net_util.get_external_ip = lambda: None


def main() -> None:
    """The same as `streamlit`."""
    from streamlit.web.cli import main as streamlit

    take_over()
    keep_inside()
    os.environ.setdefault(QUIET, "true")
    streamlit(prog_name="streamlit")


if __name__ == "__main__":
    main()
