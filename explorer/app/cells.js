export default function ({ data, parentElement, setTriggerValue }) {
  const table = parentElement.querySelector("[data-cells]"), page = parentElement.ownerDocument || document;
  const cell = (kind, text) => { const made = page.createElement(kind); made.textContent = text; return made; };
  table.style.setProperty("--hold", data.held);
  const top = cell("tr", "");
  top.append(cell("td", ""), ...data.columns.map(name => { const made = cell("th", name); made.scope = "col"; if (/[^ -]{7}/.test(name)) made.style.width = "15%"; return made; }));
  const button = (one, row, column) => {
    const place = cell("td", ""), made = cell(one.able ? "button" : "span", one.text);
    made.style.background = one.colour; made.style.color = one.ink;
    if (one.able) {
      made.type = "button";
      made.setAttribute("aria-label", `${data.rows[row]}, ${data.columns[column]}: ${one.text} ${data.unit}`);
      made.setAttribute("aria-pressed", String(one.chosen));
      made.onclick = () => { made.dataset.asked = ""; setTriggerValue("chosen", [row, column]); };
    }
    place.append(made);
    return place;
  };
  const active = table.contains(table.getRootNode().activeElement) ? table.getRootNode().activeElement.getAttribute("aria-label") : "";
  table.replaceChildren(top, ...data.cells.map((line, row) => {
    const head = cell("th", data.rows[row]), made = cell("tr", "");
    head.scope = "row";
    made.append(head, ...line.map((one, column) => button(one, row, column)));
    return made;
  }));
  const every = [...table.querySelectorAll("button")], place = one => one.getAttribute("aria-label")?.split(":")[0];
  const stop = every.find(one => one.getAttribute("aria-pressed") === "true") || every[0];
  every.forEach(one => { one.tabIndex = one === stop ? 0 : -1; });
  if (active) every.find(one => place(one) === active.split(":")[0])?.focus();
  table.onkeydown = event => {  // one stop for the keyboard; arrows move within the matrix
    const [right, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] || [0, 0];
    const td = event.target.closest("td"), row = td?.parentElement;
    if (!td || !(right || down)) return;
    event.preventDefault();
    event.stopPropagation();
    for (let at = td.cellIndex + right, line = row.rowIndex + down; ; at += right, line += down) {
      const next = table.rows[line]?.cells[at];
      if (!next || next.tagName === "TH") return;
      if (next.querySelector("button")) return next.querySelector("button").focus();
    }
  };
}
