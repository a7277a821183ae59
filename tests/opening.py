"""Pages of the app opened without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from explorer.app import streamlit_inside
from explorer.app.lessons import LESSONS

APP = Path(__file__).parent.parent / "app.py"


def session() -> AppTest:
    """A visitor on the front page, of which one part alone is drawn."""
    at = AppTest.from_file(str(APP), default_timeout=300)
    at.query_params["part"] = "exercises"
    at.run()
    at.query_params.clear()
    return at


def guessing_first(at: AppTest) -> AppTest:
    """The same page, where a picture that would answer its own question waits for a guess."""
    button = next(button for button in at.button if str(button.key).startswith("wait."))
    return button.click().run()


def opened(lesson: str, *, at: AppTest | None = None, **address: str) -> AppTest:
    """A lesson's page (or another, by its file) with what its address asks for: "ways__part" is the key "ways.part" there."""
    if at is None:
        at = streamlit_inside.visitor(APP)
    for name, value in address.items():
        at.query_params[name.replace("__", ".")] = value
    return at.switch_page(str(LESSONS[lesson].page) if lesson in LESSONS else lesson).run()


def pictures(at: AppTest) -> list[Any]:
    """The pictures of a page that show something: not the empty frames that wait for an answer."""
    return [chart for chart in at.get("plotly_chart") if "empty until you answer" not in chart.proto.spec]
