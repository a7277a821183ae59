export default function ({ data, parentElement }) {
  const page = parentElement.ownerDocument || document, main = page.querySelector(data.main);
  const held = parentElement.tour || (parentElement.tour = {});
  const target = () => data.targets.map(one => page.querySelector(`${data.block} ${one}`)).find(one => one && one.offsetHeight);
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
  size.observe(page.querySelector(data.block));
  held.end = () => { watch.disconnect(); size.disconnect(); kinds.forEach(kind => page.removeEventListener(kind, rest)); free(); };
  go();
  return held.end;
}
