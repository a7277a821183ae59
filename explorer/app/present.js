const RESENT = 30000, SAID = 4000, ASKS = 2000;  // ms: a page that does not come is asked for again, words at an end stay, the vote is looked at
const CALM = 2;  // looks, two a second, in which a page does not run

export default function ({ data, setTriggerValue, parentElement }) {
  const page = parentElement.ownerDocument || document, kept = parentElement;
  let cover = null, counts = 0;
  const lift = () => { if (cover) { cover.remove(); clearInterval(counts); cover = null; } };
  const put = (name, ...inside) => {  // the whole screen, until the same key is pressed again
    const same = cover?.dataset[name];
    lift();
    if (same) return;
    cover = page.createElement("div");
    cover.dataset[name] = "yes";
    cover.append(...inside);
    page.body.append(cover);
  };
  const element = (name, text, more) => Object.assign(page.createElement(name), { textContent: text }, more);
  const join = () => {
    const joined = element("p", "", { role: "status" }), code = element("img", "", { src: data.joins.code, alt: `QR code of ${data.joins.address}` });
    const count = () => {
      const many = page.querySelector("[data-joined]")?.dataset.joined || 0;
      if (joined.dataset.many !== many) joined.textContent = `${joined.dataset.many = many} joined`;
    };
    put("join", element("h2", data.joins.address), code, joined);
    count();
    if (cover) counts = setInterval(count, 500);
  };
  const say = text => {
    page.querySelector("[data-end]")?.remove();
    const says = page.body.appendChild(element("p", text, { role: "status" }));
    says.dataset.end = "yes";
    setTimeout(() => says.remove(), SAID);
  };
  const wanted = () => {  // where the presenter wants to be: further than the page where keys are pressed faster than pages come
    const [to, pressed] = (page.body.dataset.wanted ?? "").split(" ").map(Number);
    return Date.now() - pressed < RESENT && to !== data.place ? to : null;
  };
  const turn = by => {
    if (data.place === null) return;
    const to = (wanted() ?? data.place) + by;
    if (to < 0 || to >= data.count) return say(`This is the ${by < 0 ? "first" : "last"} ${data.of} of this ${data.of === "step" ? "lesson" : "page"}.`);
    page.body.dataset.wanted = `${to} ${Date.now()}`;
    setTriggerValue("move", to);
  };
  const tell = async () => {  // the count of a vote, without a page being computed for it
    const answer = data.tally && here() && await fetch(data.tally).catch(() => null), now = answer?.ok ? await answer.json().catch(() => null) : null;
    const corner = page.querySelector("[data-joined]"), region = page.querySelector("[data-vote]");
    if (!now) return;
    if (corner) corner.dataset.joined = now.joined;
    if (corner && corner.textContent !== now.voted) corner.textContent = now.voted;
    if (!region || region.dataset.vote !== now.number) return;
    for (const kind of ["heard", "seen"]) {
      const part = region.querySelector(`.${kind}`);
      if (part.textContent !== now[kind]) part.textContent = now[kind];
    }
    const bars = region.querySelector(".bars");
    if (kept.bars !== now.bars || !bars.firstChild) bars.innerHTML = kept.bars = now.bars;  // written by tally.py
  };
  const vote = () => page.querySelector(":is([data-scene=side], [data-scene=words]) [class*='st-key-put-'] button")?.click();
  const keys = {
    b: () => put("blank"), j: join, v: vote, a: () => setTriggerValue("answers", 1), n: () => kept.screen.turn(1), c: () => kept.screen.unfold(),
    pagedown: () => turn(1), pageup: () => turn(-1),
  };
  const asks = { v: "V", a: "A", pagedown: "Page Down", pageup: "Page Up" };  // what the server has to do
  const server = () => page.querySelector(data.connection.state)?.dataset ?? {};
  const here = () => server().testConnectionState === "CONNECTED";
  const look = () => {  // what is pressed while the server is away is done when it is back
    if (here()) {
      kept.calm = server().testScriptState === "notRunning" && !page.querySelector("[data-stale=true]") ? (kept.calm ?? 0) + 1 : 0;
      const to = wanted();
      if (to !== null && kept.calm > CALM && kept.calm % CALM === 1) setTriggerValue("move", to);  // a key that came between two pages
      if (kept.late && kept.calm < CALM) return;  // reconnected.js has the page computed first
      keys[kept.late]?.();
      kept.says?.remove();
      kept.late = kept.says = null;
      return;
    }
    kept.calm = 0;
    page.querySelector(data.connection.closes)?.click();  // a message over the picture, which says no more than this
    const says = `The server does not answer. When it is back, this page goes on by itself${kept.late ? ` and presses ${asks[kept.late]}` : ""}.`;
    if (!kept.says) (kept.says = page.body.appendChild(element("p", "", { role: "status" }))).dataset.away = "yes";
    if (kept.says.textContent !== says) kept.says.textContent = says;
  };
  const hear = event => {
    if (!/[?&]present=1\b/.test(page.location.search)) return;
    const at = event.composedPath()[0], writes = at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName) && !/^(radio|checkbox)$/.test(at.type);
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.altKey || event.metaKey || !keys[key] || writes && !key.startsWith("page")) return;
    if (writes) at.blur();  // the pages turn after typing, too
    if (asks[key] && !here()) { kept.late = key; look(); } else keys[key]();
    event.preventDefault();
    event.stopPropagation();
  };
  if (data.ahead && kept.ahead !== data.ahead) {  // the next step is computed while this one is looked at, and kept for everybody
    kept.ahead = data.ahead;
    clearTimeout(kept.loads);
    kept.loads = setTimeout(() => {
      const frame = page.createElement("iframe");
      Object.assign(frame, { src: data.ahead, hidden: true, title: "the next step" });
      page.body.append(frame);
      setTimeout(() => frame.remove(), 30000);
    }, 4000);
  }
  kept.screen ||= new Screen(page, data.inside);
  kept.screen.begin(data.part);
  page.body.presents?.();  // drawn again, or on another page: one listener, not two
  const deaf = page.body.presents = () => page.removeEventListener("keydown", hear, true);
  page.addEventListener("keydown", hear, true);
  clearInterval(kept.looks);
  clearInterval(kept.tells);
  kept.looks = setInterval(look, 500);
  kept.tells = setInterval(tell, ASKS);
  tell();
  return () => {
    setTimeout(() => page.body.presents === deaf && deaf(), RESENT);  // until the next page listens, keys are kept
    clearInterval(kept.looks);
    clearInterval(kept.tells);
    kept.says?.remove();
    kept.screen?.end();
    kept.screen = null;
    lift();
  };
}
