/** The screen of a room: one picture at a time, as large as the screen allows, its question beside it, the rest folded away. */
let inside = {};  // the selectors of what Streamlit draws, by what it is: charts, pictures, rows, words, folded
const GAP = 16, LEAST = { one: 700, several: 240, type: 22, line: 1200 }, LONGEST = 260, LARGEST = 2.2, STRETCHED = 1.6, LOW = 0.7, FULL = 0.94, LATE = 600;  // ms

const ABOVE = [0.095, 0.14], BESIDE = 0.28;  // of the screen, for a question: the last row reads its 24 px
const CARD = "[class*='st-key-card-guess']", MATRIX = ".st-key-edit-cells";  // this beside a picture needs more room than words

/** The pictures of a part: those side by side are one. */
function picturesOf(root) {
  const every = [...root.querySelectorAll(inside.pictures)].filter(one => !one.parentElement.closest(`${inside.pictures}, [class*='st-key-aside-']`));
  const rows = every.map(one => {
    const row = one.closest(inside.row);
    return row && root.contains(row) && every.filter(other => row.contains(other)).length > 1 ? row : one;
  });
  return [...new Set(rows)];
}

/** What a room sees one after the other: a picture with what stands beside it, or the words of a part. */
function scenesOf(root) {
  const pictures = picturesOf(root), cards = [...root.querySelectorAll(CARD)];
  const beside = new Map(pictures.map(picture => {
    const aside = picture.closest("[class*='st-key-placed-']")?.querySelector("[class*='st-key-aside-']");
    return [picture, aside?.offsetHeight ? [aside] : []];  // small print, which a room is not shown, has no height
  }));
  const alone = cards.filter(card => !card.closest("[class*='st-key-aside-']"));
  for (const card of alone) {
    const before = pictures.filter(picture => picture.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING);
    const picture = before.at(-1) ?? pictures[0];
    const own = card.matches("[class*='st-key-card-guess-lesson']");  // the teacher's own question is asked first
    if (picture) beside.get(picture)[own ? "unshift" : "push"](card);
  }
  const scenes = pictures.flatMap(picture => (beside.get(picture).length ? beside.get(picture) : [null]).map(side => ({ picture, side })));
  const shown = scenes.flatMap(({ picture, side }) => [picture, side]).filter(Boolean);
  const sides = [...beside.values()].flat();
  for (const one of [...root.querySelectorAll("[data-elsewhere]"), ...sides]) one.toggleAttribute("data-elsewhere", sides.includes(one));
  const words = [...root.querySelectorAll(inside.words)].some(
    one => one.offsetHeight && !one.closest(inside.folded) && !shown.some(other => other.contains(one)));
  return words || !scenes.length ? [...scenes, { words: root }] : scenes;
}

function put(one, box, scale) {
  const { style } = one;
  style.setProperty("--left", `${box.left}px`);
  style.setProperty("--top", `${box.top}px`);
  style.setProperty("--wide", `${box.width / scale}px`);
  style.setProperty("--high", `${box.height / scale}px`);
  style.setProperty("--scale", String(scale));
}

/** How high a chart is drawn on a page. */
function naturalHeight(chart) {
  const { scene } = chart.dataset, row = chart.closest("[data-scene]");
  delete chart.dataset.scene;
  if (row && row !== chart) chart.style.setProperty("--high", "auto");
  const high = Math.max(120, chart.offsetHeight);
  if (scene) chart.dataset.scene = scene;
  return high;
}

/** A chart grows with its type as far as its width allows, and fills the height that is left. */
function fitChart(one, box) {
  const natural = naturalHeight(one), scale = Math.min(LARGEST, Math.max(1, box.width / LEAST.one), box.height / natural);
  put(one, { ...box, height: Math.min(box.height, STRETCHED * scale * natural) }, scale);
}

/** How wide the columns of a row are on a page, of 100; none where all are alike. */
function sharesOf(row) {
  const { scene } = row.dataset, columns = [...row.children];
  delete row.dataset.scene;
  for (const one of columns) one.style.removeProperty("flex");
  const shares = columns.map(one => parseFloat(getComputedStyle(one).flexBasis.replace("calc(", "")));
  if (scene) row.dataset.scene = scene;
  return shares.every(share => Math.abs(share - shares[0]) < 1 || !(share > 0)) ? [] : shares;
}

/** Charts side by side grow alike; where they would be too narrow, some stand below the others. */
function fitRow(row, box) {
  const charts = [...row.querySelectorAll(inside.chart)], each = row.children.length;
  const lines = Math.ceil(each / Math.max(1, Math.floor(box.width / LEAST.several)));
  row.style.setProperty("--across", String(Math.ceil(each / lines)));
  const shares = lines === 1 ? sharesOf(row) : [];
  shares.forEach((share, n) => row.children[n].style.setProperty("flex", `${share} 1 0`, "important"));
  put(row, box, 1);
  const wides = charts.map(chart => chart.parentElement.clientWidth), wide = Math.min(...wides), high = box.height / lines - GAP * (lines > 1);  // a last line of fewer has more room
  const naturals = charts.map(naturalHeight), scale = Math.min(LARGEST, Math.max(0.75, wide / LEAST.several), high / Math.max(...naturals));
  charts.forEach((chart, n) => put(chart, { left: 0, top: 0, width: shares.length ? wides[n] : wide, height: naturals[n] * scale }, scale));
}

/** A figure that moves is as large as the screen allows, smaller once a frame is higher, and does not grow while it moves. */
function fitStaged(one, box) {
  if (!one.grown && one.scrollHeight > 100 && one.fitted * one.scrollHeight < LOW * box.height) {
    one.grown = true;  // more room was kept for it than it takes
    one.fitted = LARGEST;
  }
  let scale = one.fitted;
  for (put(one, box, scale); scale > 0.5 && scale * one.scrollHeight > FULL * box.height; put(one, box, scale)) scale -= 0.1;
  if (one.scrollHeight > 100) one.fitted = scale;  // a lower one is not drawn yet
}

/** A board is large by itself: smaller until all of it is on the screen. */
function fitBoard(one, box) {
  const place = [box.left, box.top, box.width, box.height].join(), staged = one.matches(inside.staged);
  if (one.dataset.place !== place) { one.dataset.place = place; one.fitted = staged ? LARGEST : 1; one.grown = false; }
  if (staged) return fitStaged(one, box);
  if (one.fitted < 1 && !one.grown && one.scrollHeight > 100 && one.scrollHeight * one.fitted < LOW * box.height) {
    one.grown = true;  // what stood here before it was drawn was higher
    one.fitted = 1;
  }
  put(one, box, one.fitted);
  one.fitted = Math.min(one.fitted, box.height / Math.max(one.scrollHeight, 1));
  put(one, box, one.fitted);
}

/** No type of a chart is smaller than 18 px on a screen of 1,080 lines, and as large on the wall as there on any other. */
function enlargeType(chart) {
  const least = LEAST.type * Math.min(1, innerHeight / 1080) / Number(chart.style.getPropertyValue("--scale"));
  const notes = chart.querySelector(".js-plotly-plot")?.layout?.annotations ?? [];
  for (const text of chart.querySelectorAll(".main-svg text")) {
    for (const one of [text, ...text.querySelectorAll("tspan")]) if (parseFloat(one.style.fontSize) < least) one.style.fontSize = `${least}px`;
    const note = text.closest(".annotation");  // its text grows from its middle, and is to stay where it begins
    if (note && notes[note.dataset.index]?.xanchor === "left") text.style.translate = `${1 - text.getBBox().x}px`;
  }
}

function fitPicture(one, box) {
  if (one.matches(inside.chart)) fitChart(one, box);
  else if (one.matches(inside.row)) fitRow(one, box);
  else return fitBoard(one, box);
  for (const chart of one.matches(inside.chart) ? [one] : one.querySelectorAll(inside.chart)) enlargeType(chart);
}

/** The share of the screen for a question above its chart, which then has the whole width: one that is short, with nothing else beside it. */
function roomAbove({ picture, side }, wide) {
  if (!side || wide < LEAST.line || !picture.matches(`${inside.chart}, ${inside.row}`)) return 0;
  const card = side.closest(CARD) ?? side.querySelector(CARD), asks = [...card?.querySelectorAll(inside.asks) ?? []];
  const alone = side === card || [...side.children].every(one => one.matches(CARD) || one.querySelector(CARD));
  const letters = asks.slice(0, 2).reduce((sum, one) => sum + one.textContent.length, 0), most = LONGEST * Math.min(1, wide / 1600);
  return card && alone && letters < most ? ABOVE[Number(letters > most / 2)] : 0;
}

/** Words beside a picture: smaller where they are many. */
function fitWords(one, box, least) {
  for (let scale = 1; scale >= least - 0.01; scale -= 0.05) {
    put(one, box, scale);
    if (one.scrollHeight <= one.clientHeight + 1 && one.scrollWidth <= one.clientWidth + 1) return;
  }
}

/** Shows one scene of the page after the other. */
class Screen {
  constructor(page, selectors) {
    inside = selectors;
    this.page = page;
    this.scene = this.turned = this.reminded = 0;
    this.part = "";
    this.watcher = new MutationObserver(() => this.soon());
    this.sizes = new ResizeObserver(() => this.soon());
    this.soon = () => { this.waits ||= requestAnimationFrame(() => { this.waits = 0; this.show(); }); };
    this.watcher.observe(page.body, { childList: true, subtree: true });
    page.defaultView.addEventListener("resize", this.soon);
    page.documentElement.dataset.controls = "";
    this.show();
  }

  /** The next scene of this part, after the last one the first. */
  turn(by) {
    this.reminded = 0;
    const many = this.scenes().length;
    if (!many) return;  // its pictures have not come yet
    const { words } = this.scenes()[this.scene] ?? {};
    const pages = words ? Math.ceil(words.scrollWidth / (words.clientWidth + 1)) : 1;
    if (this.turned + by >= 0 && this.turned + by < pages) this.turned += by;
    else { this.scene = (this.scene + by + many) % many; this.turned = 0; }
    this.show();
  }

  /** The rest of the page, over the picture; once more, and it is folded again. */
  unfold() {
    const { dataset } = this.page.documentElement;
    dataset.controls = dataset.controls ? "" : "shown";
  }

  begin(part) {
    if (part === this.part) return;
    [this.part, this.scene, this.turned, this.reminded] = [part, 0, 0, 0];
    this.page.documentElement.dataset.controls = "";
    this.show();
  }

  scenes() {
    const root = this.page.querySelector(".st-key-shown");
    return root && !root.querySelector(inside.comes) ? scenesOf(root) : [];
  }

  show() {
    const scenes = this.scenes(), line = this.page.querySelector(".st-key-heading");
    if (!scenes.length || !line) return;
    const { innerWidth, innerHeight } = this.page.defaultView, { picture, side, words } = scenes[Math.min(this.scene, scenes.length - 1)];
    const above = Math.round(roomAbove({ picture, side }, innerWidth) * innerHeight), begin = line.getBoundingClientRect().bottom + 6;
    const top = begin + (above && above + GAP / 2), high = innerHeight - top - 8, share = side?.querySelector(MATRIX) ? 0.38 : BESIDE;
    const column = side && !above ? Math.min(Math.max(250, share * innerWidth), 2000 * share) : 0;
    const roles = new Map([[picture, "picture"], [side, "side"], [words, "words"]]);
    this.page.querySelectorAll("[data-scene]").forEach(one => { if (!roles.has(one)) delete one.dataset.scene; });
    roles.forEach((role, one) => { if (one && one.dataset.scene !== role) one.dataset.scene = role; });
    if (picture) {
      fitPicture(picture, { left: GAP, top, width: innerWidth - 2 * GAP - (column && column + GAP) - this.reminded % 2, height: high });
      this.sizes.observe(picture);
    }
    side?.toggleAttribute("data-above", above > 0);
    if (side) fitWords(side, above ? { left: GAP, top: begin, width: innerWidth - 2 * GAP, height: above } : { left: innerWidth - GAP - column, top, width: column, height: high }, 0.5);
    if (words) {
      fitWords(words, { left: GAP, top, width: innerWidth - 2 * GAP, height: high }, 0.75);
      words.scrollLeft = this.turned * (words.clientWidth + 32);
    }
    clearTimeout(this.looks);
    this.looks = setTimeout(() => this.remind(), LATE);
    const count = this.page.querySelector("[data-count]");
    const says = scenes.length > 1 ? `${this.scene + 1} of ${scenes.length} · N: next` : "";
    if (count && count.textContent !== says) count.textContent = says;
  }

  /** A busy browser may not tell a chart of its last size: all are one pixel narrower, then as before, so it is told once more. */
  remind() {
    const late = [...this.page.querySelectorAll("[data-scene=picture] .js-plotly-plot")].some(plot => {
      const drawn = plot.querySelector(".main-svg")?.width.baseVal.value;
      return drawn && Math.abs(drawn - plot.clientWidth) > 2;
    });
    if (!(late && this.reminded < 9) && this.reminded % 2 === 0) return;
    this.reminded += 1;
    this.show();
  }

  end() {
    clearTimeout(this.looks);
    this.watcher.disconnect();
    this.sizes.disconnect();
    this.page.defaultView.removeEventListener("resize", this.soon);
    delete this.page.documentElement.dataset.controls;
    this.page.querySelectorAll("[data-scene]").forEach(one => { delete one.dataset.scene; });
  }
}

