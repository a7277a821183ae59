// The main rules of accessibility, checked on a page as it stands. Gives back a list of what is wrong.
smallest => {
  const faults = new Set(), name = e => (e.tagName + " " + (e.getAttribute("data-testid") || e.className.baseVal || e.className || "") + " «" +
    (e.textContent || "").trim().slice(0, 30) + "»").slice(0, 110);
  const fault = (rule, e, more = "") => faults.add(`${rule}: ${name(e)} ${more}`.trim());
  const every = [], walk = root => { for (const e of root.querySelectorAll("*")) { every.push(e); if (e.shadowRoot) walk(e.shadowRoot); } };
  walk(document);
  const up = e => e.parentElement || (e.getRootNode().host ?? null);
  const seen = e => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    return box.width > 1 && box.height > 1 && style.visibility === "visible" && !closest(e, one => getComputedStyle(one).opacity === "0" ||
      getComputedStyle(one).clipPath === "inset(50%)" || /rect\(0(px)?, 0(px)?/.test(getComputedStyle(one).clip));
  };
  const closest = (e, is) => { for (let one = e; one; one = up(one)) if (is(one)) return one; return null; };
  const hidden = e => closest(e, one => one.getAttribute("aria-hidden") === "true" || one.hasAttribute("inert"));
  const off = e => closest(e, one => one.disabled || one.getAttribute("aria-disabled") === "true");
  const said = (e, deep = true) => {
    const by = (e.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean).map(id => e.getRootNode().getElementById?.(id));
    return [...by.map(one => one?.textContent), e.getAttribute("aria-label"), e.alt, e.title, e.placeholder,
      ...[...(e.labels || [])].map(one => one.textContent), deep ? e.textContent : "",
      ...[...e.querySelectorAll("[aria-label], img[alt], title")].map(one => one.getAttribute("aria-label") || one.alt || one.textContent)
    ].some(one => one && one.trim());
  };
  const rgba = text => { // color-mix gives shares of one: color(srgb 0.2 0.4 0.6)
    const [r, g, b, a = 1] = (text.match(/[\d.]+/g) || []).map(Number), by = text.startsWith('color(') ? 255 : 1;
    return [by * r, by * g, by * b, a];
  };
  const light = c => { const [r, g, b] = c.map(v => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const over = (top, below) => top.slice(0, 3).map((v, n) => v * top[3] + below[n] * (1 - top[3]));
  const behind = e => {
    const layers = [], box = e.getBoundingClientRect();
    let scrolled = false;  // what is scrolled out of sight lies on its scroller all the same
    const below = one => { const own = one.getBoundingClientRect();
      return own.left < box.right && own.right > box.left && own.top < box.bottom && own.bottom > box.top; };
    for (let one = e; one; one = up(one)) {
      const style = getComputedStyle(one);
      scrolled ||= /auto|scroll/.test(style.overflowY);
      if (one.parentElement && !scrolled && !below(one)) continue;  // it is drawn beside it, as the number above a slider's thumb is
      if (style.backgroundImage !== "none" || one.tagName === "CANVAS") return null;
      const colour = rgba(style.backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  if (!document.documentElement.lang) faults.add("language: <html> names none");
  const controls = "button, a[href], input:not([type=hidden]), select, textarea, [role=button], [role=slider], [role=combobox], " +
    "[role=radio], [role=checkbox], [role=switch], [role=tab], [role=spinbutton], [role=menuitem], [role=grid], [role=group][tabindex]";
  for (const e of every) {
    const within = e.closest?.("[data-testid=stHeader], [data-testid=stSidebar]");
    if (e.matches(controls) && seen(e) && !hidden(e) && !said(e)) fault("no name", e, e.outerHTML.slice(0, 90));
    if (e.tagName === "IMG" && seen(e) && !hidden(e) && !e.hasAttribute("alt")) fault("no alt text", e);
    const grid = e.closest?.("[data-testid=stDataFrame]");  // a drawn table holds a real one, for those who cannot see it
    if (e.matches(".js-plotly-plot, canvas") && !grid && seen(e) && !hidden(e) && !closest(e, one => one.getAttribute("aria-label") || one.getAttribute("role") === "img"))
      fault("picture without a text", e);
    if (e.tabIndex > 0) fault("focus out of order", e);
    if (e.tabIndex >= 0 && e.matches("button, a[href], input, select, textarea, [tabindex]") && seen(e) && hidden(e) && !closest(e, one => one.hasAttribute("inert"))) fault("focus on what is hidden", e);
    const own = [...e.childNodes].some(node => node.nodeType === 3 && node.textContent.trim().length > 0);
    if (!own || !seen(e) || hidden(e) || off(e) || ["SCRIPT", "STYLE", "OPTION"].includes(e.tagName)) continue;
    const style = getComputedStyle(e), svg = e.closest?.("svg"), math = e.closest?.(".katex"), size = parseFloat(style.fontSize);
    if (size < smallest - 0.01 && !math && !(svg && !e.closest(".xtick, .ytick, .gtitle, .legend, .g-xtitle, .g-ytitle"))) fault("small type", e, size + " px");
    if (svg && !e.closest(".xtick, .ytick, .gtitle, .legend, .g-xtitle, .g-ytitle")) continue;  // a word in a cell has the colour of the cell behind it
    const back = behind(svg ? svg : e);
    if (!back) continue;
    const ink = rgba(svg ? style.fill : style.color);
    const alpha = closest(e, one => getComputedStyle(one).opacity !== "1");
    ink[3] *= alpha ? parseFloat(getComputedStyle(alpha).opacity) : 1;
    const pair = [light(over(ink, back)), light(back)].sort((a, b) => b - a), ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.01) fault("contrast", e, ratio.toFixed(2));
  }
  const heard = e => e.checkVisibility({ visibilityProperty: true }) && !hidden(e);  // also what is clipped
  const heads = every.filter(e => /^H[1-6]$/.test(e.tagName) && heard(e)).map(e => Number(e.tagName[1]));
  if (heads.filter(level => level === 1).length !== 1) faults.add(`headings: ${heads.filter(level => level === 1).length} of the first level`);
  heads.forEach((level, n) => { if (n && level > heads[n - 1] + 1) faults.add(`headings: h${level} after h${heads[n - 1]}`); });
  return [...faults];
}
