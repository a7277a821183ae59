"""What reaches into the insides of Streamlit stands in one file, and is looked at again when Streamlit changes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import streamlit
from opening import opened
from streamlit import error_util, net_util
from streamlit.runtime import Runtime
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.session_state import WStates

from explorer.app import core, mishap, streamlit_inside

APP = Path(streamlit_inside.__file__).parent
INSIDE = re.compile(r"streamlit\.(runtime|web)\b|\b_session_mgr|\.session_state\._(?!_)|net_util|data-test|\.st[A-Z]\w+")


def test_streamlit_is_the_version_whose_insides_are_known() -> None:
    assert streamlit.__version__ == streamlit_inside.SEEN, (
        f"Streamlit {streamlit.__version__} is installed; explorer/app/streamlit_inside.py reaches into {streamlit_inside.SEEN}. Run "
        "tests/test_frame_browser.py, tests/test_browser.py and tests/test_redteam.py, look at a page in both themes, then write the new "
        "version into SEEN."
    )


def test_what_is_reached_into_is_there() -> None:
    state = SessionState()
    assert isinstance(state._new_widget_state, WStates) and isinstance(state._old_state, dict)
    assert state._new_widget_state.widget_metadata == {} and state._new_widget_state.states == {}
    assert state._key_id_mapper.id_key_mapping == {} and state._query_param_bound_widget_ids == set()
    assert callable(net_util.get_external_ip) and "_session_mgr" in Runtime.__init__.__code__.co_names
    assert streamlit_inside.visitors() == 0 and streamlit_inside.session() == "", "outside of a page"


def test_an_error_that_escapes_is_said_in_our_words_and_logged_in_full(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def fails(page: str) -> None:
        raise RuntimeError(f"a secret of {page}")

    monkeypatch.setattr(
        error_util, "invoke_script_error_handler", error_util.invoke_script_error_handler
    )  # put back afterwards
    streamlit_inside.say_errors(mishap.say)
    with monkeypatch.context() as patched:
        patched.setattr(core, "begin", fails)
        at = opened("tokens", part="one-text")
    assert not at.exception and [said.value for said in at.warning] == [mishap.SAID] and not at.title
    assert any(block.proto.body == mishap.BACK for block in at.get("html"))
    assert "a secret of tokens" in capsys.readouterr().out + caplog.text, "with rich on the machine, it is printed"
    (again,) = [button for button in at.button if button.label == "Try again"]
    at = again.click().run()
    assert at.title and not at.warning and not at.exception


def test_nothing_else_reaches_into_it() -> None:
    files = [path for path in APP.rglob("*") if path.suffix in (".py", ".js", ".css") and path.stem != "streamlit_inside"]
    assert [f"{path.name}: {found[0]}" for path in files if (found := INSIDE.search(path.read_text("utf-8")))] == []


def test_what_runs_alone_on_a_page_hands_nothing_back() -> None:
    """A fragment is run again by itself, without who called it: a function with a result is none, and a decorator slips easily."""
    written = [ast.parse(path.read_text("utf-8")) for path in APP.rglob("*.py")]
    functions = [one for tree in written for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    alone = [one for one in functions if any(ast.unparse(mark) == "st.fragment" for mark in one.decorator_list)]
    assert {"show", "series", "one_thing"} <= {one.name for one in alone}
    assert [one.name for one in alone if one.returns is None or ast.unparse(one.returns) != "None"] == []
