export default function ({ data, parentElement }) {
  const page = parentElement.ownerDocument || document, main = page.querySelector(data.main), now = `${data.step} ${data.done}`;
  const held = page.tour || (page.tour = {}), GAP = 14, HEADER = 60, OUTSIDE = 4000, SOME = 120;
  const CARD = "[class*=st-key-card-]", MARKS = ["data-toured", "data-asked", "data-looked"];
  const seen = one => one.offsetHeight && one.getBoundingClientRect().top > -OUTSIDE;
  const all = selector => [...page.querySelectorAll(data.block)].flatMap(block => [...block.querySelectorAll(selector)]).filter(seen);
  const around = rects => ({ top: Math.min(...rects.map(rect => rect.top)), bottom: Math.max(...rects.map(rect => rect.bottom)) });
  const frame = some => around(some.map(one => one.getBoundingClientRect()));
  const high = rect => rect.bottom - rect.top;
  const mark = (name, some) => {
    page.querySelectorAll(`[${name}]`).forEach(one => { if (!some.includes(one)) one.removeAttribute(name); });
    some.forEach(one => { if (!one.hasAttribute(name)) one.setAttribute(name, data.step); });
  };
  const room = () => {  // what neither the bar nor the card covers
    const bar = page.querySelector(".st-key-bar"), card = page.querySelector(".st-key-tour")?.getBoundingClientRect();
    const stuck = bar && getComputedStyle(bar.parentElement).position === "sticky";
    const below = card && card.width > innerWidth / 2;
    page.documentElement.style.setProperty("--sheet", `${below ? card.height : 0}px`);
    return { stuck, below, top: HEADER + (stuck ? bar.offsetHeight : 0) + GAP, foot: (below ? card.top : innerHeight) - GAP };
  };
  const arrive = (control, picture) => {  // as much of both as there is room for
    const { top, foot, stuck, below } = room(), asked = frame([control.closest(CARD) || control]), both = around([asked, picture]);
    const fits = high(both) <= foot - top, to = fits ? both : stuck && control.closest(".st-key-bar") ? picture : asked;
    if (data.lower && !fits && !below) main.scrollBy(0, to.bottom - foot);
    else if (to.top < top - 2 || (fits ? to : picture).bottom > foot + 2 && to.top > top + 2) main.scrollBy(0, to.top - top);
  };
  const stay = (told, picture) => {  // after a deed nothing moves, unless the picture is out of sight: then only until it begins
    const { top, foot } = room(), begins = { top: picture.top, bottom: Math.min(picture.bottom, picture.top + Math.max(SOME, high(picture) / 3)) };
    const there = one => Math.min(one.bottom, foot) - Math.max(one.top, top) >= Math.min(SOME, high(one)) - 2;
    if ([...told, picture].every(there)) return;
    const some = told.length ? told : [begins], last = some.at(-1);
    const to = some.map((_, first) => around([...some.slice(first), begins])).find(one => high(one) <= foot - top);
    if (to) main.scrollBy(0, to.top < top ? to.top - top : Math.max(0, to.bottom - foot));
    else main.scrollBy(0, begins.top > last.top ? last.top - top : last.bottom - foot);
  };
  const back = () => {  // what was pressed stands where it stood, whatever the page has drawn meanwhile
    const { selector, top } = held.pressed || {}, one = selector && all(selector)[0], by = one ? one.getBoundingClientRect().top - top : 0;
    if (Math.abs(by) > 2) main.scrollBy(0, by);
  };
  const go = () => {
    const controls = data.controls.flatMap(all), control = controls[0], pictures = all(data.pictures);
    if (!control) return;
    mark("data-toured", [control]);
    mark("data-asked", controls);
    mark("data-looked", pictures);
    if (held.rests === now) return;  // the visitor has taken over
    if (data.done) back();
    const picture = frame(pictures.length ? pictures : [control]), verdicts = controls.map(one => one.closest(CARD)?.querySelector(data.verdict));
    const stands = room().stuck && control.closest(".st-key-bar");  // it is in sight wherever the page is
    if (data.done) stay([!stands && control, ...verdicts].filter(one => one).map(one => frame([one])), picture);
    else arrive(control, picture);
  };
  const inCard = event => event.composedPath().some(one => one.classList && one.classList.contains("st-key-tour"));
  const rest = event => {
    if (inCard(event)) return;
    const selector = data.controls[0], one = all(selector)[0];
    Object.assign(held, { rests: now, pressed: one && { selector, top: one.getBoundingClientRect().top } });
  };
  if (held.end) held.end();
  const kinds = ["wheel", "touchmove", "pointerdown", "keydown"], watch = new MutationObserver(go), size = new ResizeObserver(go);
  kinds.forEach(kind => page.addEventListener(kind, rest, { passive: true }));
  watch.observe(main, { childList: true, subtree: true });
  size.observe(page.querySelector(data.block));
  const end = () => {
    watch.disconnect();
    size.disconnect();
    kinds.forEach(kind => page.removeEventListener(kind, rest));
    if (held.end !== end) return;  // the card was drawn anew, and another one points now
    page.documentElement.style.removeProperty("--sheet");
    MARKS.forEach(name => mark(name, []));
  };
  held.end = end;
  go();
  return end;
}
