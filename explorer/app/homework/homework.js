// A homework: its steps are built from the packed content; answers stay in this browser and are handed in as one file.
const content = await (await unpacked("content")).json();
const home = document.getElementById("homework"), kept = `explorer-homework-${content.id}`;
const HINT = 2, GIVEN_AWAY = 3; // after so many different wrong answers, as on a page of the app (records/answering.py)
const LONGEST = 4000; // letters of a text that is written
const PICTURES = 5, WIDEST = 1000, HEAVIEST = 120_000; // that are handed in, the pixels of one across, and the letters of one (hand_ins.py)
let state = { answers: {}, texts: {}, notes: "", pictures: {} };
try {
  state = { ...state, ...JSON.parse(localStorage.getItem(kept) ?? "{}") };
} catch { /* a browser that keeps nothing: the hand-in has everything all the same */ }
const keep = () => {
  try { localStorage.setItem(kept, JSON.stringify(state)); } catch { /* see above */ }
  tell();
};

const add = (parent, name, text = "", more = {}) => parent.appendChild(Object.assign(document.createElement(name), { textContent: text, ...more }));
const write = (parent, name, html, more = {}) => parent.appendChild(Object.assign(document.createElement(name), { innerHTML: html, ...more })); // escaped where the file was written

/** A number as it was typed; a comma may stand for the point. */
function numberOf(given) {
  const plain = given.trim().replace(",", ".").replace("−", "-");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

const isRight = (item, given) =>
  typeof item.answer === "string" ? given === item.answer : Math.abs(numberOf(given) - item.answer) <= 0.51 * 10 ** -item.digits;

/** Which way the answer lies. */
function hintOf(item, given) {
  if (item.options.length) {
    const others = item.options.filter(([option]) => option !== given && option !== item.answer);
    return others.length > 1 ? `Hint: it is not <em>${others[0][1]}</em> either.` : "Hint: one answer is left.";
  }
  const number = numberOf(given), { answer, digits } = item;
  if (isNaN(number)) return "Hint: write a number, for example 0.25.";
  return answer > number
    ? `Hint: it is larger than ${number}, and at most ${(2 * Math.abs(answer)).toFixed(digits)}.`
    : `Hint: it is smaller than ${number}, and at least ${(answer - Math.abs(answer) / 2).toFixed(digits)}.`;
}

/** What is said to an answer, and whether the question is over. A guess has one try. */
function feedbackOf(item, { given = "", wrong = [], asked = false }, guess) {
  const right = given !== "" && isRight(item, given);
  if (right && !asked) return { kind: "right", over: true, text: `${guess ? "Yes" : "Right"}: ${item.shown}. ${item.why}` };
  if (guess && (given || asked)) {
    const chosen = item.options.find(([option]) => option === given)?.[1];
    return { kind: "shown", over: true, text: `${chosen ? `You said <em>${chosen}</em>. ` : ""}The answer: <strong>${item.shown}</strong>. ${item.why}` };
  }
  if (asked || wrong.length >= GIVEN_AWAY) return { kind: "shown", over: true, text: `It is <strong>${item.shown}</strong>. ${item.why}` };
  if (!given) return { kind: "", over: false, text: "" };
  return { kind: "wrong", over: false, text: `Not yet. ${wrong.length === HINT ? hintOf(item, given) : "Try again, or press <em>Show me</em>."}` };
}

const questions = []; // each with its name and kind, in the order of the file

/** A question with its choices or its box; `over` is called once it has been answered. */
function ask(parent, item, name, guess, over = () => {}) {
  questions.push({ item, name, guess });
  const field = add(parent, "fieldset"), legend = write(field, "legend", (guess ? "◇ " : "") + item.question), row = add(field, "div");
  const said = document.createElement("p"), parts = [];
  legend.id = `question-${name}`;
  said.setAttribute("role", "status");
  row.className = "answers";
  const show = () => {
    const now = state.answers[name] ?? {}, { kind, over: ended, text } = feedbackOf(item, now, guess);
    said.className = kind;
    said.innerHTML = text;
    if (!ended) return;
    for (const part of parts) part.disabled = true;
    over();
  };
  const answer = (given) => {
    if (!given.trim()) return;
    const now = state.answers[name] ?? { given: "", wrong: [], asked: false };
    const wrong = isRight(item, given) || now.wrong.includes(given) ? now.wrong : [...now.wrong, given];
    state.answers[name] = { ...now, given, wrong };
    keep();
    show();
  };
  for (const [option, html] of item.options) {
    const label = add(row, "label"), choice = add(label, "input", "", { type: "radio", name, value: option, checked: state.answers[name]?.given === option });
    write(label, "span", html);
    choice.onchange = () => answer(option);
    parts.push(choice);
  }
  if (!item.options.length) {
    const box = add(row, "input", "", { type: "text", maxLength: 40, autocomplete: "off", placeholder: item.form, value: state.answers[name]?.given ?? "" });
    box.setAttribute("aria-labelledby", legend.id);
    box.onchange = () => answer(box.value);
    parts.push(box, add(row, "button", "Check", { type: "button", onclick: () => answer(box.value) }));
  }
  parts.push(add(row, "button", "Show me", { type: "button", className: "quiet", onclick: () => {
    state.answers[name] = { given: "", wrong: [], ...state.answers[name], asked: true };
    keep();
    show();
  } }));
  field.append(said);
  show();
}

/** A text without halves of letters, which no file can hold. */
const whole = (text) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

/** A box for words of one's own. */
function words(parent, title, value, changed) {
  const label = add(parent, "label", title, { className: "words" }), box = add(label, "textarea", "", { value, rows: 3, maxLength: LONGEST });
  box.oninput = () => { changed(box.value); keep(); };
}

/** A drawing as the letters of a PNG file, smaller until they are few enough. */
function still(drawing, width, height) {
  const canvas = document.createElement("canvas"), { backgroundColor } = getComputedStyle(document.body);
  for (let scale = Math.min(1, WIDEST / width); ; scale *= 0.8) {
    [canvas.width, canvas.height] = [width, height].map((side) => Math.max(1, Math.round(side * scale)));
    const paper = canvas.getContext("2d");
    paper.fillStyle = backgroundColor;
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(drawing, 0, 0, canvas.width, canvas.height);
    const letters = canvas.toDataURL("image/png");
    if (letters.length <= HEAVIEST) return letters;
  }
}

/** A button that puts a picture, as it is now, into what is handed in. `take` makes it, `of` says of what it is. */
function keepable(parent, step, name, of, take) {
  const row = add(parent, "p", "", { className: "keep" }), said = document.createElement("span"), mine = document.createElement("span");
  const show = () => {
    const kept = state.pictures[name];
    said.textContent = kept ? "Kept for your hand-in." : "";
    mine.replaceChildren();
    if (!kept) return;
    add(mine, "img", "", { src: kept.picture, alt: `Kept: ${kept.of}` });
    add(mine, "button", "Remove", { type: "button", className: "quiet", onclick: () => { delete state.pictures[name]; keep(); show(); } });
  };
  add(row, "button", "Keep this picture", { type: "button", className: "quiet", onclick: async () => {
    if (!state.pictures[name] && Object.keys(state.pictures).length >= PICTURES) {
      said.textContent = `At most ${PICTURES} pictures are handed in. Remove another one first.`;
      return;
    }
    state.pictures[name] = { step, of: whole(of()).slice(0, LONGEST), picture: await take() };
    keep();
    show();
  } });
  said.setAttribute("role", "status");
  row.append(said, mine);
  show();
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) { seen.unobserve(target); target.drawn(); }
}, { rootMargin: "400px" });

let library = null, engine = null;
const plotly = () => (library ??= unpacked("plotly").then((held) => held.text()).then((text) => { add(document.head, "script", text); }));
const boards = () => (engine ??= unpacked("module").then((held) => held.text())
  .then((text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })))));

/** A picture of the page, drawn when it comes into view. */
function picture(parent, { figure, looks, says }, step, name) {
  parent = add(parent, "div");
  const place = add(parent, "div", "", { className: "picture" }), dark = matchMedia("(prefers-color-scheme: dark)");
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", says);
  place.style.minHeight = `${figure.layout.height ?? 400}px`;
  place.drawn = async () => {
    await plotly();
    const draw = () => Plotly.react(place, figure.data, { ...figure.layout, template: looks[dark.matches ? "dark" : "light"] }, content.config);
    dark.addEventListener("change", draw);
    await draw();
    place.dataset.drawn = "yes";
    keepable(parent, step, name, () => says, async () => {
      const size = { width: place.offsetWidth, height: place.offsetHeight }, drawing = new Image();
      drawing.src = await Plotly.toImage(place, { format: "png", ...size });
      await drawing.decode();
      return still(drawing, size.width, size.height);
    });
  };
  seen.observe(place);
}

/** A board whose model runs here, opened when it comes into view. */
function board(parent, { pack, text, model }, step) {
  add(parent, "p", `The board of ${model}: type a sentence, and it is read at once. Its keys are listed under ?.`, { className: "dim" });
  const home = add(parent, "div"), place = add(home, "div", "Opening the model …", { className: "live" });
  place.drawn = async () => {
    const { mountLive } = await boards();
    const bytes = new Uint8Array(await (await unpacked(`model-${pack}`)).arrayBuffer());
    const live = await mountLive(place, bytes, { text, target: null, writes: true, view: { station: "softmax" } });
    place.dataset.drawn = "yes";
    keepable(home, step, `${step}.board`, () => `The board of ${model}: ${live.session.state().text}`, async () => {
      const { canvas } = live.board.parts;
      return still(canvas, canvas.width, canvas.height);
    });
  };
  seen.observe(place);
}

function step(number, each) {
  const part = add(home, "section"), name = String(number);
  add(part, "h2", `${number}. ${each.title}`);
  if (each.do) write(part, "p", `In class: ${each.do}.`, { className: "dim" });
  if (each.ask) words(part, each.ask, state.texts[name] ?? "", (text) => { state.texts[name] = text; });
  part.id = `step-${number}`;
  let open = each.guesses.length;
  const pictures = document.createElement("div"), show = () => { each.pictures.forEach((figure, place) => picture(pictures, figure, number, `${number}.p${place + 1}`)); };
  each.guesses.forEach((item, place) => ask(part, item, `${number}.g${place + 1}`, true, () => { if (--open === 0) show(); }));
  part.append(pictures);
  if (!each.guesses.length) show();
  if (each.board) board(part, each.board, number);
  if (each.earlier) add(part, "p", "", { className: "dim" }).append("The board of ", add(part, "a", `step ${each.earlier}`, { href: `#step-${each.earlier}` }), " reads the same sentence.");
  if (each.exercises.length) add(part, "h3", "Exercises");
  each.exercises.forEach((item, place) => ask(part, item, `${number}.e${place + 1}`, false));
}

/** What is handed in: every question with its answer and tries, the texts, the notes, the pictures that were kept. */
function handIn() {
  const answers = questions.map(({ item, name, guess }) => {
    const { given = "", wrong = [], asked = false } = state.answers[name] ?? {};
    const { kind } = feedbackOf(item, { given, wrong, asked }, guess);
    return { name, question: item.plain, given: whole(given), right: kind === "right", wrong: wrong.map(whole), shown: kind === "shown" && !guess || asked };
  });
  const texts = content.steps.flatMap((each, at) => each.ask ? [{ step: at + 1, asked: each.ask, text: whole(state.texts[at + 1] ?? "") }] : []);
  return { format: content.format, homework: content.id, title: content.title, answers, texts, notes: whole(state.notes), pictures: Object.values(state.pictures) };
}

async function save() {
  const given = handIn(), digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(given)));
  const checksum = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const file = new Blob([JSON.stringify({ ...given, checksum }, null, 1)], { type: "application/json" }), name = `hand-in-${checksum.slice(0, 8)}.json`;
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  handed.textContent = `${name} is among your downloads: give it to your teacher. It holds your answers, your tries, your texts and the pictures that you kept, and nothing else.`;
}

add(home, "h1", content.title);
add(home, "p", "This file needs no network and nothing installed. What you write stays in this browser until you hand it in.", { className: "dim" });
const progress = document.createElement("p");
const tell = () => {
  const ended = questions.filter(({ item, name, guess }) => feedbackOf(item, state.answers[name] ?? {}, guess).over).length;
  progress.textContent = `${ended} of ${questions.length} questions answered.`;
};
content.steps.forEach((each, at) => step(at + 1, each));
const last = add(home, "section"), handed = document.createElement("p");
if (content.concluded) {
  add(last, "h2", "What may be concluded");
  write(last, "p", content.concluded);
  if (content.not) write(last, "p", `Not: ${content.not}`);
}
add(last, "h2", "Hand in");
words(last, "Notes", state.notes, (text) => { state.notes = text; });
progress.setAttribute("role", "status");
handed.setAttribute("role", "status");
last.append(progress);
add(last, "button", "Hand in", { type: "button", onclick: save });
last.append(handed);
tell();
document.body.dataset.drawn = "yes";
