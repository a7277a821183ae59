export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector("[data-tokens]"), page = parentElement.ownerDocument || document;
  list.style.setProperty("--hold", data.colour);
  list.replaceChildren(...data.tokens.map((token, row) => {
    const button = page.createElement("button");
    button.type = "button";
    const lines = (token.lines || []).map(line => { const span = page.createElement("span"); span.textContent = line; return span; });
    if (lines.length) { button.append(...lines); button.dataset.kind = token.kind; button.setAttribute("aria-label", token.text); }
    else button.textContent = token.text;
    button.dataset.start = token.start;
    if (token.start < 0) { button.dataset.special = ""; button.disabled = true; }
    button.onclick = () => { press(button.getAttribute("aria-pressed") === "true" ? "" : token.start); setTriggerValue("chosen", row); };
    return button;
  }));
  const every = [...list.children].filter(one => !one.disabled);
  const press = start => {
    every.forEach(one => one.setAttribute("aria-pressed", String(start !== "" && one.dataset.start === String(start))));
    const stop = every.find(one => one.getAttribute("aria-pressed") === "true") || every[0];
    every.forEach(one => { one.tabIndex = one === stop ? 0 : -1; });
    if (start !== "" && stop) {  // on a telephone the tokens lie in one line that is moved: what is held stands in it
      const { left, right } = list.getBoundingClientRect(), held = stop.getBoundingClientRect();
      if (held.left < left || held.right > right) list.scrollLeft += held.left - left - (right - left - held.width) / 2;
    }
  };
  press(data.start);
  list.onkeydown = event => {
    const at = every.indexOf(event.target), by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !by) return;
    event.preventDefault();
    event.stopPropagation();
    every[Math.min(Math.max(at + by, 0), every.length - 1)].focus();
  };
  const follow = () => {  // a board on this page may hold another token: it writes it into the address
    const start = new URL(page.location.href).searchParams.get("hold") ?? "";
    if (start !== list.dataset.address) { list.dataset.address = start; press(start); }
  };
  list.dataset.address = new URL(page.location.href).searchParams.get("hold") ?? "";
  const [addresses, changes] = window.navigation ? [window.navigation, "currententrychange"] : [window, "popstate"];
  if (list.follow) addresses.removeEventListener(changes, list.follow);  // drawn again: one that follows, not two
  list.follow = follow;
  addresses.addEventListener(changes, follow);
  return () => addresses.removeEventListener(changes, follow);
}
