"""Pages of the app opened without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from explorer.app.lessons import LESSONS

APP = Path(__file__).parent.parent / "app.py"


def opened(lesson: str, *, patience: float = 120, **asked: str) -> AppTest:
    """A lesson's page with what its address asks for, after at most so many seconds."""
    at = AppTest.from_file(str(APP), default_timeout=patience)
    at.query_params["part"] = "exercises"
    at.run()
    at.query_params.clear()
    for name, value in asked.items():
        at.query_params[name] = value
    return at.switch_page(str(LESSONS[lesson].page)).run()


def pictures(at: AppTest) -> list[Any]:
    """The pictures of a page that show something: not the empty frames that wait for an answer."""
    return [chart for chart in at.get("plotly_chart") if "empty until you answer" not in chart.proto.spec]
