"""Streamlit keeps what it knows of every widget that a session ever showed; here it lets go of those that are gone."""

from __future__ import annotations

from contextlib import suppress

from streamlit.runtime.scriptrunner import get_script_run_ctx


def forget() -> None:
    """Drop the description of every widget that has no value any more: the page that showed it was left, or its options have changed.

    Streamlit drops the values by itself and describes a widget again when it is shown again, but what it was asked to call stays for as
    long as the session does: 10 to 15 kB a widget, and a widget whose options are the words of a text is another one for every text.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    with suppress(AttributeError):  # a Streamlit that keeps them elsewhere: then nothing is dropped, and a test says so
        state = context.session_state._state
        described, valued = state._new_widget_state.widget_metadata, state._new_widget_state.states
        for name in described.keys() - valued.keys() - state._old_state.keys():
            del described[name]
