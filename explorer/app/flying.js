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
