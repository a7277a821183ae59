"""A button that plays a choice as a film: in the browser it presses the button “Next” of the choice until the last step is there."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

PAUSE = 700  # milliseconds between two steps, where drawing one does not take longer
STYLE = """
button { font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: transparent; cursor: pointer;
  min-height: 2.5rem; padding: 0.25rem 0.75rem;
  border: 1px solid color-mix(in srgb, var(--st-text-color) 25%, transparent); border-radius: 0.5rem; }
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
"""
SCRIPT = """
export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button"), page = parentElement.ownerDocument || document, held = parentElement;
  const busy = () => (page.querySelector("[data-test-script-state]")?.dataset.testScriptState ?? "notRunning") !== "notRunning";
  const show = () => {
    button.textContent = held.clock ? "❚❚ Pause" : "▶ Play";
    button.setAttribute("aria-label", `${held.clock ? "Pause" : "Play"}: ${held.told.label}`);
  };
  const stop = () => { clearInterval(held.clock); held.clock = 0; show(); };
  const tick = () => {
    if (busy()) return;
    const next = page.querySelector(`.st-key-${held.told.next} button`);
    if (!next || held.told.last) return stop();
    next.click();
  };
  held.told = data;
  button.onclick = () => {
    if (held.clock) return stop();
    if (held.told.last) { held.told.last = false; setTriggerValue("again", 1); }
    held.clock = setInterval(tick, data.pause);
    show();
  };
  show();
  return () => clearInterval(held.clock);
}
"""
_component = st.components.v2.component(
    "pretraining-explorer-play", html="<button type='button'>▶ Play</button>", css=STYLE, js=SCRIPT
)


def button(key: str, label: str, *, last: bool, again: Callable[[], None]) -> None:
    """Play the choice of this name, whose button “Next” has the key `{key}.Right`; `again` goes to its first step."""
    follows = re.sub(r"[^a-zA-Z0-9_-]", "-", f"{key}.Right")  # so Streamlit names the element of a key
    told = {"next": follows, "last": last, "label": label, "pause": PAUSE}
    with st.container(width="content"):
        _component(key=f"{key}.play", data=told, on_again_change=again)
