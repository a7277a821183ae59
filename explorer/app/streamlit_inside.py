"""All that reaches into the insides of Streamlit: what another version may call otherwise. `SEEN` is the version that it was written for.

So do the rules of `streamlit_inside.css` and the tables that `streamlit_inside.js` finds.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from threading import Event, Thread
from typing import Any

SEEN = "1.67.0"
QUIET = "STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE"
REMOVES = 3.0  # seconds in which a server that ends removes what it leaves
VERDICT = "[data-testid=stAlert]"  # whether an answer was right
OPTION = "[data-testid=stRadioOption]"
FAILED = '<span data-testid="stException"></span>'  # marks a page that stopped at an error, as Streamlit's own message does
MAIN, BLOCK, PICTURE = (
    "[data-testid=stMain]",
    ".stMainBlockContainer",
    "[data-testid=stPlotlyChart]",
)  # for the scripts of components
CONNECTION = {
    "state": "[data-test-connection-state]",
    "closes": "[role=dialog] [aria-label=Close]",
}  # and what says that it is lost
ELEMENT = ".stElementContainer"  # around whatever is written
CHART = f"{ELEMENT}:has([data-testid=stPlotlyChart])"
SCREEN = {  # for the script that presents: what it puts on the screen, and what it leaves folded
    "chart": CHART,
    "staged": "[class*='-staged ']",
    "pictures": f"{CHART}, .st-key-board, .st-key-learning, .st-key-start-opening, "
    ".stElementContainer:is([class*='-board '], [class*='-board-'], [class*='-staged '])",
    "row": "[data-testid=stHorizontalBlock]",
    "asks": ".stMarkdown, .stRadio",
    "comes": "[data-testid=stSkeleton]",
    "words": ".stMarkdown, .stTable, .stDataFrame, .stMetric, .stAlert, [data-testid=stRadio], [data-testid=stImage]",
    "folded": "details:not([open]), [data-testid=stWidgetLabel], [class*='st-key-above-'], [class*='st-key-aside-'], "
    "[class*='st-key-card-'], .stButton, .stPopover, .stHeading",
}
FOLDER = Path(__file__).parent


@cache
def style(section: str) -> str:
    """The rules of a section of the style: of every "page", shown to a "room", with the "tour" at its foot.

    >>> style("tour")[:7]
    '<style>'
    """
    parts = re.split(r"^/\* (\w+) \*/$", (FOLDER / "streamlit_inside.css").read_text("utf-8"), flags=re.MULTILINE)
    return f"<style>{dict(zip(parts[1::2], parts[2::2], strict=True))[section]}</style>"


@cache
def script(name: str) -> str:
    """A script beside this file, for a component."""
    return (FOLDER / f"{name}.js").read_text("utf-8")


def session() -> str:
    """The session of the visitor whose page runs now; empty outside of a page."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def visitors() -> int:
    """How many browsers are connected to this server; 0 outside of one."""
    from streamlit import runtime

    sessions = getattr(runtime.get_instance(), "_session_mgr", None) if runtime.exists() else None
    return len(sessions.list_active_sessions()) if sessions is not None else 0


def files_of(visitor: str) -> int:
    """How many files this visitor has sent that the server still has."""
    from streamlit import runtime

    sent = getattr(runtime.get_instance().uploaded_file_mgr, "file_storage", {}) if runtime.exists() else {}
    return len(sent.get(visitor, ()))


def forget_widgets() -> None:
    """Drop the description of every widget that has no value any more: the page that showed it was left, or its options have changed.

    Streamlit drops the values by itself and describes a widget again when it is shown again, but what it was asked to call stays for as
    long as the session does: 10 to 15 kB a widget, and a widget whose options are the words of a text is another one for every text.
    """
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is None:
        return
    with suppress(AttributeError):  # a Streamlit that keeps them elsewhere: then nothing is dropped, and a test says so
        state = context.session_state._state
        described, valued = state._new_widget_state.widget_metadata, state._new_widget_state.states
        for name in described.keys() - valued.keys() - state._old_state.keys():
            del described[name]


def controls() -> dict[str, Any]:
    """What the visitor has chosen in the controls of the page that an address holds, by their keys."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is None:
        return {}
    with suppress(AttributeError):  # a Streamlit that keeps them elsewhere: then none is known, and a test says so
        state = context.session_state._state
        names = {state._key_id_mapper.id_key_mapping.get(control) for control in state._query_param_bound_widget_ids}
        return {name: value for name, value in context.session_state.filtered_state.items() if name in names}
    return {}


def let_go(names: Iterable[str]) -> None:
    """Let an address set these boxes again: Streamlit refuses to set one that is already on the page."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is None:
        return
    for name in names:
        if name in context.session_state:
            del context.session_state[name]
        with context.session_state.query_params() as address:
            if (binding := address.get_binding_for_param(name)) is not None:
                address.unbind_widget(binding.widget_id)


def go_to(page: Path, query: Mapping[str, str | Sequence[str]]) -> None:
    """To another page at this address, whose boxes may be on the page that is left."""
    import streamlit as st

    let_go(query)
    st.switch_page(str(page), query_params=dict(query))


@cache
def _registered(app: Path) -> Any:
    """The pages of an app, which its front page registers."""
    from streamlit.testing.v1 import AppTest

    at = AppTest.from_file(str(app), default_timeout=600)
    at.query_params["part"] = "exercises"  # one part of the front page is enough
    return at.run()._registered_pages


def visitor(app: Path) -> Any:
    """Somebody who has just come and has opened no page yet, without a server and a browser."""
    from streamlit.testing.v1 import AppTest

    at = AppTest.from_file(str(app), default_timeout=600)
    at._registered_pages = _registered(app)
    return at


def keep_inside() -> None:
    """Let nothing be asked outside: this machine is known by its local addresses alone.

    Streamlit asks for its address when it prints where it is, and when a page of somebody else's tries to reach it.
    """
    from streamlit import net_util

    net_util.get_external_ip = lambda: None


def settle_choices() -> None:
    """Have every control hold what it offers, whatever an address or a browser says: where it is none of that, what it began with.

    Streamlit ends in an error where a whole number is said to be infinite, and takes an empty address for no choice where one is required.
    """
    from streamlit.elements.widgets import button_group, number_input, select_slider, slider

    kinds: tuple[Any, ...] = (
        number_input.NumberInputSerde,
        slider.SliderSerde,
        select_slider.SelectSliderSerde,
        button_group._SingleSelectButtonGroupSerde,
    )
    for kind in kinds:
        if not hasattr(kind.deserialize, "__wrapped__"):
            kind.deserialize = _settled(kind.deserialize)


def _settled(usual: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The same reader of a control's value, which reads what it cannot use, and an empty list, as if nothing was said."""

    @wraps(usual)
    def deserialize(self: Any, value: Any) -> Any:
        with suppress(TypeError, ValueError, OverflowError, AttributeError, LookupError):
            return usual(self, None if isinstance(value, list) and not value else value)
        return usual(self, None)

    return deserialize


def answer_at(path: str, answer: Callable[[str, str], tuple[int, bytes, dict[str, str]]]) -> bool:
    """Have this server answer a path such as "/weights/{file}"; False outside of a server.

    `answer` makes status, content and headers of the file and of the mark under which a browser has it already.
    """
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from streamlit import config

    served = application()
    if served is None:
        return False
    base = str(config.get_option("server.baseUrlPath") or "").strip("/")
    whole = f"/{base}{path}" if base else path

    def respond(request: Request) -> Response:
        status, content, headers = answer(request.path_params["file"], request.headers.get("if-none-match", ""))
        return Response(content, status, headers)

    if all(getattr(route, "path", "") != whole for route in served.router.routes):
        served.router.routes.insert(0, Route(whole, respond))
    return True


def static_folder() -> Path:
    """Where Streamlit's own scripts and styles lie."""
    from streamlit import file_util

    return Path(file_util.get_static_dir()) / "static"


def put_before(layer: Callable[..., Any]) -> None:
    """Have every answer of the server that is about to start pass through this layer (ASGI) first."""
    from starlette.middleware import Middleware
    from streamlit.web.server.starlette import starlette_app

    usual = starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_middleware = lambda: [Middleware(layer), *usual()]


def say_errors(say: Callable[[Exception], bool]) -> None:
    """Have an error that escapes on a page, or in a part of it that is drawn alone, said in this way; the terminal gets it as usual."""
    from streamlit import error_util

    usual = error_util.invoke_script_error_handler
    error_util.invoke_script_error_handler = lambda ex, on_script_error: usual(ex, on_script_error or say)


def end_within(seconds: float) -> None:
    """Have a server that is asked to end be gone after this time: where hundreds of pages are computed, the usual end waits for each.

    What it leaves on the disk is removed before, and its trainings end by themselves once it is gone.
    """
    from streamlit.web import bootstrap

    usual, asked = bootstrap._set_up_signal_handler, Event()

    def set_up(server: Any) -> None:
        usual(server)
        Thread(target=_end_after, args=(asked, seconds), daemon=True, name="end").start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _also(asked.set, signal.getsignal(number)))

    bootstrap._set_up_signal_handler = set_up


def _also(first: Callable[[], None], usual: Any) -> Callable[[int, Any], None]:
    """A handler of a signal that does one thing more, before the usual."""

    def handle(number: int, frame: Any) -> None:
        first()
        usual(number, frame)

    return handle


def _end_after(asked: Event, seconds: float) -> None:
    asked.wait()
    time.sleep(seconds)
    removing = Thread(target=atexit._run_exitfuncs, daemon=True)
    removing.start()
    removing.join(REMOVES)
    os._exit(0)


@cache
def application() -> Any:
    """What serves the pages of this process, which Streamlit hands out to nobody; None outside of a server.

    It is looked for among all objects, so once, and before any are left out of the search for garbage.
    """
    from starlette.applications import Starlette

    return next((thing for thing in gc.get_objects() if type(thing) is Starlette), None)


def command() -> Callable[..., object]:
    """Streamlit's own command, without what it advertises to programmers, where a class would read it."""
    from streamlit.web.cli import main

    os.environ.setdefault(QUIET, "true")
    return main
