"""A text whose tokens fly to their new positions at the press of a button, and below each how far its state changed."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.app.hold import mode
from explorer.app.playing import STYLE
from explorer.records import Shuffle
from explorer.views import theme
from explorer.views.order import WAYS

LAID = """
[data-words] { display: flex; flex-wrap: wrap; gap: 6px 4px; padding: 6px 2px; margin: 0; }
[data-words] div { display: grid; justify-items: stretch; min-width: 1.5rem; }
[data-words] b { font: 1rem/1.5 ui-monospace, Menlo, Consolas, monospace; text-align: center; padding: 1px 7px; border-radius: 4px;
  background: var(--st-secondary-background-color); white-space: pre; }
[data-words] s { display: flex; gap: 2px; height: 34px; align-items: flex-end; justify-content: center; text-decoration: none;
  border-bottom: 1px solid color-mix(in srgb, var(--st-text-color) 25%, transparent); }
[data-words] i { width: 9px; }
[data-legend] { font-size: 0.875rem; display: flex; flex-wrap: wrap; gap: 2px 14px; }
[data-legend] i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; }
"""
SCRIPT = """
export default function ({ data, parentElement }) {
  const held = parentElement, find = name => held.querySelector(`[data-${name}]`), page = held.ownerDocument || document;
  const list = find("words"), button = find("fly"), legend = find("legend"), make = name => page.createElement(name);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches, order = data.order, places = order.map((_, n) => order.indexOf(n));
  const bars = (row) => data.changed.map(way => {
    const bar = make("i");
    bar.style.cssText = `background: ${way.colour}; height: ${Math.round(32 * (way.shares[row] ?? 0))}px`;
    return bar;
  });
  const chips = data.texts.map((text, row) => {
    const chip = make("div"), word = make("b"), below = make("s");
    word.textContent = text;
    chip.append(word);
    if (data.changed.length) {
      below.append(...bars(row));
      chip.append(below);
      chip.title = data.changed.map(way => way.says[row]).join("; ");
    }
    return chip;
  });
  list.replaceChildren(...chips);
  legend.replaceChildren(...data.changed.map(way => {
    const entry = make("span"), mark = make("i");
    mark.style.background = way.colour;
    entry.append(mark, way.name);
    return entry;
  }));
  const put = () => {
    chips.forEach((chip, row) => { chip.style.order = held.flown ? places[row] : row; });
    button.textContent = held.flown ? "Back to your order" : "Shuffle the tokens";
    const read = held.flown ? order.map(row => data.texts[row]) : data.texts;
    list.setAttribute("aria-label", `Read in this order: ${read.join(" ")}`);
  };
  button.onclick = () => {
    const before = chips.map(chip => chip.getBoundingClientRect());
    held.flown = !held.flown;
    put();
    if (calm) return;
    chips.forEach((chip, row) => {
      const now = chip.getBoundingClientRect(), x = before[row].left - now.left, y = before[row].top - now.top;
      const arc = x || y ? -10 - Math.abs(x) / 40 : 0, from = (left, top) => ({ transform: `translate(${left}px, ${top}px)` });
      chip.animate([from(x, y), from(x / 2, y / 2 + arc), from(0, 0)], { duration: 1100, easing: "ease-in-out" });
    });
  };
  put();
}
"""
_component = st.components.v2.component(
    "pretraining-explorer-flying",
    html="<div data-words role='group'></div><div data-legend></div><button type='button' data-fly>Shuffle the tokens</button>",
    css=STYLE + LAID,
    js=SCRIPT,
)


def tokens(record: Shuffle, *, changes: bool) -> None:
    """The tokens of a text that is read in two orders; with `changes`, bars for how far the state after the last layer changed."""
    _component(
        key="flying",
        data={
            "texts": [theme.visible(text) for text in record.tokens.texts],
            "order": record.order.tolist(),
            "changed": _changed(record) if changes else [],
        },
    )


def _changed(record: Shuffle) -> list[dict[str, object]]:
    """For both ways to read, how far each last state changed: as a share of the largest change, and in words."""
    last = {way: record.moved[way][-1] for way in WAYS}
    top = max(1e-9, *(float(np.nanmax(values)) for values in last.values()))
    return [
        {
            "name": f"change of the last state, {name}",
            "colour": theme.LINES[mode()][number],
            "shares": [float(value / top) if np.isfinite(value) else None for value in last[way]],
            "says": [
                f"{name}: {f'{value:.2g} of its length' if np.isfinite(value) else 'cannot be compared'}" for value in last[way]
            ],
        }
        for number, (way, name) in enumerate(WAYS.items())
    ]
