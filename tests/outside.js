// What of the scene on the screen is outside of it, or lies over the picture or on its title.
() => {
  const low = innerHeight + 1, wide = innerWidth + 1, faults = [];
  const seen = one => { const box = one.getBoundingClientRect(); return box.width && box.height ? box : null; };
  const drawn = ":is(.main-svg, .gtitle, .xtitle, .legend, .xtick text, .annotation-text, .board)";
  for (const one of document.querySelectorAll(`[data-scene=picture] ${drawn}`)) {
    const box = seen(one);
    if (box && (box.bottom > low || box.right > wide || box.top < 0 || box.left < -1)) {
      faults.push([one.className.baseVal ?? one.className, box.left, box.top, box.right, box.bottom]);
    }
  }
  for (const one of document.querySelectorAll("[data-scene=side], [data-scene=words]")) {
    const box = seen(one), cut = one.scrollHeight - one.clientHeight;
    if (box && (box.bottom > low || box.right > wide || cut > 2)) faults.push([one.dataset.scene, box.right, box.bottom, cut]);
    for (const words of one.querySelectorAll("p, li")) {
      const part = seen(words);
      if (part && part.left < -1 && part.right > 8) faults.push(["cut at its left", words.textContent]);
    }
  }
  for (const plot of document.querySelectorAll("[data-scene=picture] .js-plotly-plot")) {
    const title = plot.querySelector(".gtitle") && seen(plot.querySelector(".gtitle"));
    for (const one of title ? plot.querySelectorAll(".annotation-text, .xtick text") : []) {
      const box = seen(one);
      if (box && box.top < title.bottom - 2 && box.bottom > title.top && box.left < title.right && box.right > title.left) {
        faults.push(["on the title", one.textContent]);
      }
    }
  }
  const [picture, side] = ["picture", "side"].map(role => document.querySelector(`[data-scene=${role}]`));
  if (!picture || !side) return faults;
  const [left, right] = [seen(picture.querySelector(".main-svg") || picture), seen(side)];
  if (!right) return [...faults, "a column is left free for nothing"];
  return left && left.right > right.left + 1 && left.top < right.bottom - 1 ? [...faults, "the question lies over the picture"] : faults;
}
