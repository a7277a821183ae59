// Words of a picture that lie on each other, or stick out of it, as a reader sees them. Gives back a list of what is wrong.
deepest => {
  const faults = new Set(), low = 0.18, high = 0.86;  // between them, of the height of a line, lie its letters
  const corners = text => {
    const box = text.getBBox(), on = text.getScreenCTM(), [top, foot] = [box.y + low * box.height, box.y + high * box.height];
    return [[box.x, top], [box.x + box.width, top], [box.x + box.width, foot], [box.x, foot]]
      .map(([x, y]) => [on.a * x + on.c * y + on.e, on.b * x + on.d * y + on.f]);
  };
  const across = box => [0, 1].map(n => {
    const [x, y] = [box[n + 1][0] - box[n][0], box[n + 1][1] - box[n][1]], length = Math.hypot(x, y) || 1;
    return [-y / length, x / length];
  });
  const reach = (box, [x, y]) => { const at = box.map(one => one[0] * x + one[1] * y); return [Math.min(...at), Math.max(...at)]; };
  const depth = (one, other) => Math.min(...[...across(one), ...across(other)].map(way => {  // they are apart where one way parts them
    const [[a, b], [c, d]] = [reach(one, way), reach(other, way)];
    return Math.min(b, d) - Math.max(a, c);
  }));
  const seen = e => { for (; e && e.nodeType === 1; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.visibility === "hidden" || style.display === "none" || style.opacity === "0") return false;
  } return true; };
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    const frame = plot.getBoundingClientRect(), title = (plot.querySelector(".gtitle")?.textContent || "").slice(0, 40);
    const words = [...plot.querySelectorAll("text")].filter(text => text.textContent.trim().length > 1 && seen(text) && text.getBBox().width >= 1)
      .map(text => ({ said: text.textContent.trim().slice(0, 30), box: corners(text), moves: text.closest("[clip-path], .plot") }));
    words.forEach((one, n) => {
      const [left, right] = reach(one.box, [1, 0]);
      if (!one.moves && (left < frame.left - deepest || right > frame.right + deepest)) faults.add(`${title}: «${one.said}» sticks out`);
      words.slice(n + 1).filter(other => depth(one.box, other.box) > deepest).forEach(other => faults.add(`${title}: «${one.said}» on «${other.said}»`));
    });
  }
  return [...faults];
}
