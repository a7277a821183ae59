export default function ({ data, parentElement, setTriggerValue }) {
  const page = parentElement.ownerDocument || document, main = page.querySelector(data.main), now = `${data.step} ${data.done}`;
  const held = page.tour || (page.tour = { marked: {} }), GAP = 20, NEAR = 12, HEADER = 60, OUTSIDE = 4000, SOME = 120, SOON = 100;
  const CARD = "[class*=st-key-card-]", MARKS = ["data-toured", "data-asked", "data-looked"];
  const FRAME = "[data-toured] { outline: 3px solid var(--st-primary-color, #1f66a8); border-radius: 6px; }";  // within a component
  if (held.step !== data.step) Object.assign(held, { step: data.step, again: data.done, focus: Boolean(held.step) });  // one comes back to what is done as to what is not
  const seen = one => one.offsetHeight && one.getBoundingClientRect().top > -OUTSIDE;
  const all = selector => [...page.querySelectorAll(data.block)].flatMap(block => [...block.querySelectorAll(selector)]).filter(seen);
  const within = (box, inner) => [...box.querySelectorAll("*")].flatMap(one => [...(one.shadowRoot?.querySelectorAll(inner) ?? [])]);
  const controlsOf = selector => {  // also a row of buttons inside a component
    const [box, inner] = selector.split(" ");
    return inner ? all(box).flatMap(one => within(one, inner)).filter(seen) : all(box);
  };
  const around = rects => ({ top: Math.min(...rects.map(rect => rect.top)), bottom: Math.max(...rects.map(rect => rect.bottom)) });
  const frame = some => around(some.map(one => one.getBoundingClientRect()));
  const high = rect => rect.bottom - rect.top;
  const mark = (name, some) => {
    (held.marked[name] ?? []).forEach(one => { if (!some.includes(one)) one.removeAttribute(name); });
    some.forEach(one => { if (one.getAttribute(name) !== `${data.step}`) one.setAttribute(name, data.step); });
    held.marked[name] = some;
  };
  const framed = ({ host, adoptedStyleSheets: sheets }) => {
    if (!host || sheets.some(sheet => sheet.tour)) return;
    const sheet = Object.assign(new CSSStyleSheet(), { tour: true });
    sheet.replaceSync(FRAME);
    sheets.push(sheet);
  };
  const room = control => {  // what neither the bar, the title of the part nor the card covers
    const bar = page.querySelector(".st-key-bar"), card = page.querySelector(".st-key-tour")?.getBoundingClientRect();
    const stuck = bar && getComputedStyle(bar.parentElement).position === "sticky", under = stuck ? bar.offsetHeight : 0;
    const title = all("h2").find(one => one.offsetHeight > NEAR)?.closest(data.element), follows = title && control && title.compareDocumentPosition(control) & 4;
    const below = card && card.width > innerWidth / 2, set = (name, value) => page.documentElement.style.setProperty(name, `${value}px`);
    set("--sheet", below ? card.height : 0);
    set("--bar", under);
    const top = HEADER + under + (title && (stuck && control?.closest(".st-key-bar") || follows) ? title.offsetHeight + NEAR : 0) + NEAR;  // no line above it is seen in part
    return { stuck, below, top, foot: (below ? card.top : innerHeight) - GAP };
  };
  const arrive = (control, picture) => {  // as much of both as there is room for
    const { top, foot, stuck, below } = room(control), asked = frame([control.closest(CARD) || control]), both = around([asked, picture]);
    const fits = high(both) <= foot - top, part = around([{ top: picture.top, bottom: picture.top }, asked]);  // from the picture's top on
    const first = asked.top > picture.top && high(part) <= (foot - top) / 2 ? part : asked;
    const to = fits ? both : stuck && control.closest(".st-key-bar") ? picture : first;
    const under = asked.top >= picture.bottom && high(asked) <= foot - top;  // the end of the picture, then what is asked
    if (!fits && (under || data.lower && !below)) main.scrollBy(0, to.bottom - foot);
    else if (to.top < top - 2 || (fits ? to : picture).bottom > foot + 2 && to.top > top + 2) main.scrollBy(0, to.top - top);
  };
  const headed = picture => Math.min(picture.top, ...all(".figure-title").map(one => one.getBoundingClientRect())  // with its title, whatever its lines
    .filter(title => title.bottom <= picture.top && picture.top - title.bottom < SOME).map(title => title.top));
  const stay = (control, told, picture) => {  // after a deed nothing moves, unless the picture is out of sight: then until all is in it
    const { top, foot, below } = room(control), begins = { top: picture.top, bottom: Math.min(picture.bottom, picture.top + Math.max(SOME, high(picture) / 3)) };
    const there = (one, least = SOME) => Math.min(one.bottom, foot) - Math.max(one.top, top) >= Math.min(least, high(one)) - 2;
    const pressed = told.some(one => one.top === picture.top);  // the picture itself is what is pressed next
    if (told.every(one => there(one)) && there(picture, pressed ? (foot - top) / 2 : SOME)) return;
    const some = told.length ? told : [begins], last = some.at(-1);
    const to = some.map((_, first) => around([...some.slice(first), begins])).find(one => high(one) <= foot - top);
    const whole = to && around([to, picture]);
    const by = begins.bottom - foot;  // as much of the picture as leaves half of what was pressed
    if (to) main.scrollBy(0, to.top < top ? to.top - top : Math.max(0, Math.min(whole.bottom - foot, to.top - top)));
    else if (begins.top < last.top) main.scrollBy(0, below ? Math.min(last.bottom - foot, headed(picture) - top) : last.bottom - foot);  // a sheet leaves no room for both
    else main.scrollBy(0, last.bottom - by - top > high(last) / 2 ? by : last.top - top);
  };
  const back = () => {  // what was pressed stands where it stood, whatever the page has drawn meanwhile
    const { selector, top } = held.pressed || {}, one = selector && controlsOf(selector)[0], by = one ? one.getBoundingClientRect().top - top : 0;
    if (Math.abs(by) > 2) main.scrollBy(0, by);
  };
  const focus = () => {  // the button that was pressed is gone: the Tab key goes on from the card
    const card = page.querySelector(".st-key-tour");
    if (!held.focus || !card || page.activeElement !== page.body) return;
    Object.assign(card, { tabIndex: -1 }).focus({ preventScroll: true });
    held.focus = false;
  };
  const go = () => {
    focus();
    const controls = data.controls.flatMap(controlsOf), control = controls[0], pictures = all(data.pictures);
    if (!control) return;
    mark("data-toured", [control]);
    mark("data-asked", controls);
    mark("data-looked", pictures);
    framed(control.getRootNode());
    if (held.rests === now) return;  // the visitor has taken over
    if (data.done) back();
    const picture = frame(pictures.length ? pictures : [control]), verdicts = controls.map(one => one.closest(CARD)?.querySelector(data.verdict));
    const stands = room().stuck && control.closest(".st-key-bar");  // it is in sight wherever the page is
    if (data.done && !held.again && !(data.more && room().below)) stay(control, [!stands && control, ...verdicts].filter(one => one).map(one => frame([one])), picture);
    else arrive(control, picture);
  };
  const wait = () => {  // the film stands before its answers until the visitor has guessed
    const film = globalThis.explorerOpening;
    clearTimeout(held.soon);
    if (!data.waits) held.waited = 0;
    if (!data.waits || data.done || held.waited === data.step) return;
    if (!film?.root.isConnected) return void (held.soon = setTimeout(wait, SOON));
    held.waited = data.step;
    film.show(data.waits);
    go();
  };
  const inCard = event => event.composedPath().some(one => one.classList && one.classList.contains("st-key-tour"));
  const rest = event => {
    if (inCard(event)) return;
    const selector = data.controls[0], one = controlsOf(selector)[0];
    Object.assign(held, { rests: now, pressed: one && { selector, top: one.getBoundingClientRect().top } });
  };
  const press = event => {  // a deed that only the browser sees
    const path = event.composedPath();
    if (!path.some(one => one.localName === "button")) return;
    const selector = Object.keys(data.pressed).find(one => controlsOf(one).some(row => path.includes(row)));
    if (selector) setTriggerValue("pressed", data.pressed[selector]);
  };
  if (held.end) held.end();
  const kinds = ["wheel", "touchmove", "pointerdown", "keydown"], watch = new MutationObserver(go), size = new ResizeObserver(go);
  kinds.forEach(kind => page.addEventListener(kind, rest, { passive: true }));
  page.addEventListener("click", press);
  watch.observe(main, { childList: true, subtree: true });
  size.observe(page.querySelector(data.block));
  const end = () => {
    watch.disconnect();
    size.disconnect();
    kinds.forEach(kind => page.removeEventListener(kind, rest));
    page.removeEventListener("click", press);
    if (held.end !== end) return;  // the card was drawn anew, and another one points now
    clearTimeout(held.soon);
    ["--sheet", "--bar"].forEach(name => page.documentElement.style.removeProperty(name));
    MARKS.forEach(name => mark(name, []));
    if (!page.querySelector(".st-key-tour")) main.scrollTop = 0;  // who leaves the tour finds the page from its top
  };
  held.end = end;
  go();
  wait();
  return end;
}
