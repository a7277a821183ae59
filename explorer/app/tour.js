export default function ({ data, parentElement }) {
  const page = parentElement.ownerDocument || document, main = page.querySelector(data.main), now = `${data.step} ${data.done}`;
  const held = parentElement.tour || (parentElement.tour = {}), GAP = 14, HEADER = 60, OUTSIDE = 4000;
  const seen = one => one.offsetHeight && one.getBoundingClientRect().top > -OUTSIDE;
  const all = selector => [...page.querySelectorAll(data.block)].flatMap(block => [...block.querySelectorAll(selector)]).filter(seen);
  const frame = some => {
    const rects = some.map(one => one.getBoundingClientRect());
    return { top: Math.min(...rects.map(rect => rect.top)), bottom: Math.max(...rects.map(rect => rect.bottom)) };
  };
  const free = () => { page.querySelectorAll("[data-toured]").forEach(one => one.removeAttribute("data-toured")); };
  const room = () => {  // what neither the bar nor the card covers
    const bar = page.querySelector(".st-key-bar"), card = page.querySelector(".st-key-tour")?.getBoundingClientRect();
    const stuck = bar && getComputedStyle(bar.parentElement).position === "sticky";
    const below = card && card.width > innerWidth / 2;
    return { stuck, below, top: HEADER + (stuck ? bar.offsetHeight : 0) + GAP, foot: (below ? card.top : innerHeight) - GAP };
  };
  const go = () => {
    const control = data.controls.map(one => all(one)[0]).find(one => one), pictures = all(data.pictures);
    if (!control) return;
    if (!control.hasAttribute("data-toured")) { free(); control.setAttribute("data-toured", data.step); }
    if (held.rests === now) return;  // the visitor has taken over
    const { top, foot, stuck, below } = room(), follows = pictures.length && (data.done || stuck && control.closest(".st-key-bar"));
    const first = frame([control.closest("[class*=st-key-card-]") || control]), picture = pictures.length ? frame(pictures) : first;
    const both = { top: Math.min(first.top, picture.top), bottom: Math.max(first.bottom, picture.bottom) };
    const fits = both.bottom - both.top <= foot - top, to = fits ? both : follows ? picture : first;
    if (data.lower && !fits && !below) main.scrollBy(0, to.bottom - foot);
    else if (to.top < top - 2 || (fits ? to : picture).bottom > foot + 2 && to.top > top + 2) main.scrollBy(0, to.top - top);
  };
  const inCard = event => event.composedPath().some(one => one.classList && one.classList.contains("st-key-tour"));
  const rest = event => { if (!inCard(event)) held.rests = now; };
  if (held.end) held.end();
  const kinds = ["wheel", "touchmove", "pointerdown", "keydown"], watch = new MutationObserver(go), size = new ResizeObserver(go);
  kinds.forEach(kind => page.addEventListener(kind, rest, { passive: true }));
  watch.observe(main, { childList: true, subtree: true });
  size.observe(page.querySelector(data.block));
  held.end = () => { watch.disconnect(); size.disconnect(); kinds.forEach(kind => page.removeEventListener(kind, rest)); free(); };
  go();
  return held.end;
}
