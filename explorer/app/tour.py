"""The guided tour: a strip at the foot of every page while it runs, which goes to what a step speaks of and ticks off what was done.

Its step is in the address, so a reload keeps it.
"""

from __future__ import annotations

import streamlit as st

from explorer.app import deeds
from explorer.app import tour_steps as lesson
from explorer.app.lessons import LESSONS

KEY, SET = "step", "step.set"
STYLE = """<style>
.st-key-tour { position: fixed; inset: auto 0 0 0; z-index: 95; max-height: 46vh; overflow-y: auto; margin: 0; border-radius: 0;
  border: 0; border-top: 2px solid var(--st-primary-color, #1b5f9e); padding: 0.6rem max(1rem, calc(50vw - 560px)) 0.5rem;
  background: var(--paper, Canvas); box-shadow: 0 -4px 16px rgba(0, 0, 0, 0.16); }
.st-key-tour, .st-key-tour > div { gap: 0.3rem; }
.stMainBlockContainer { padding-bottom: 17rem !important; }
[data-toured] { outline: 3px solid var(--st-primary-color, #1b5f9e); outline-offset: 6px; border-radius: 4px; }
</style>"""
GUIDE = """
export default function ({ data, parentElement }) {
  const page = parentElement.ownerDocument || document, main = page.querySelector("[data-testid=stMain]");
  const held = parentElement.tour || (parentElement.tour = {});
  const target = () => data.targets.map(one => page.querySelector(".stMainBlockContainer " + one)).find(one => one && one.offsetHeight);
  const free = () => { page.querySelectorAll("[data-toured]").forEach(one => one.removeAttribute("data-toured")); };
  const go = () => {
    const found = target();
    if (!found) return;
    if (!found.hasAttribute("data-toured")) { free(); found.setAttribute("data-toured", data.step); }
    if (held.rests === data.step) return;  // the visitor has taken over
    const bar = page.querySelector(".st-key-bar"), strip = page.querySelector(".st-key-tour"), frame = found.getBoundingClientRect();
    const sticks = bar && getComputedStyle(bar.parentElement).position === "sticky", stuck = sticks && !bar.contains(found);
    const top = (stuck ? 64 + bar.offsetHeight : 64) + 16, foot = (strip ? strip.getBoundingClientRect().top : innerHeight) - 16;
    if (frame.top < top - 2 || frame.bottom > foot + 2 && frame.top > top + 2) main.scrollBy(0, frame.top - top);
  };
  const inStrip = event => event.composedPath().some(one => one.classList && one.classList.contains("st-key-tour"));
  const rest = event => { if (!inStrip(event)) held.rests = data.step; };
  if (held.end) held.end();
  const kinds = ["wheel", "touchmove", "pointerdown", "keydown"], watch = new MutationObserver(go), size = new ResizeObserver(go);
  kinds.forEach(kind => page.addEventListener(kind, rest, { passive: true }));
  watch.observe(main, { childList: true, subtree: true });
  size.observe(page.querySelector(".stMainBlockContainer"));
  held.end = () => { watch.disconnect(); size.disconnect(); kinds.forEach(kind => page.removeEventListener(kind, rest)); free(); };
  go();
  return held.end;
}
"""
_guide = st.components.v2.component("pretraining-explorer-tour", html="<span></span>", js=GUIDE)


def steps() -> tuple[lesson.TourStep, ...]:
    """The steps through the pages that there are."""
    return lesson.steps_on(set(LESSONS))


def running() -> bool:
    """Whether a tour goes on."""
    return KEY in st.session_state


def strip(here: str) -> None:
    """On the page `here`: the step that the visitor is at, with the controls of the page set as it says."""
    every = steps()
    asked = st.query_params.get(KEY)
    number = lesson.number_of(asked if asked is not None else st.session_state.get(KEY), len(every))
    if number is None:
        return
    st.session_state[KEY] = number
    if asked != str(number):
        st.query_params[KEY] = str(number)
    step = every[number - 1]
    st.html(STYLE)
    with st.container(border=True, key="tour"):
        if step.page == here:
            _arrive(number, step)
            _say(number, step)
        else:
            deeds.stop()
            st.markdown(f"**{number} of {len(every)}** · The tour waits on another page.")
        _doors(number, step.page != here)


def _say(number: int, step: lesson.TourStep) -> None:
    """What to do and where to look; and once it is done, what one knows now."""
    done = deeds.done()
    st.markdown(
        f"**{number} of {len(steps())}** · {step.says}  \n{'☑' if done else '☐'} **Do:** {step.do} **Look:** {step.look}"
    )
    if done:
        st.markdown(f"✓ **Now you know:** {step.know}")
    _guide(key="tour.guide", data={"step": number, "targets": [*map(deeds.selector, step.done), "h2"]})


def _doors(number: int, elsewhere: bool) -> None:
    """The ways to other steps, and out."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if elsewhere:
            door("Go on with the tour", number)
        if number > 1:
            door("← Back", number - 1)
        if number < len(steps()):
            door("Next →", number + 1)
        st.button("Leave the tour", key="tour.leave", on_click=leave, type="tertiary")


def _arrive(number: int, step: lesson.TourStep) -> None:
    """Set the controls of the page once; afterwards they are the visitor's."""
    if st.session_state.get(SET) != number:
        st.session_state[SET] = number
        for key, value in step.choices.items():
            st.session_state[key] = value
        deeds.stop()
    deeds.watch(number, step.done)


def door(label: str, number: int) -> None:
    """A link to a step."""
    step = steps()[number - 1]
    asked = {KEY: str(number)} | ({"part": step.part} if step.part else {})
    st.page_link(str(LESSONS[step.page].page), label=f"**{label}**", query_params=asked)


def leave() -> None:
    """End the tour."""
    st.session_state.pop(KEY, None)
    st.session_state.pop(SET, None)
    deeds.stop()
    if KEY in st.query_params:
        del st.query_params[KEY]
