if (!window.answering) {  // where a guess and the answer are marked in a picture, the mark of the answer moves there from the guess, once
  window.answering = true;
  const GUESS = "your guess", ANSWER = "✓ the answer", calm = matchMedia("(prefers-reduced-motion: reduce)");
  let waits = 0;
  const marksOf = picture => {
    const notes = [...picture.querySelectorAll("g.annotation")], frames = [...picture.querySelectorAll(".shapelayer path")];
    const [from, to] = [GUESS, ANSWER].map(words => notes.find(note => note.textContent === words));
    return from && to && { from, to, frames: frames.slice(-2) };
  };
  const move = (from, to) => {
    const a = from.getBoundingClientRect(), b = to.getBoundingClientRect();
    const start = { transform: `translate(${a.x + a.width / 2 - b.x - b.width / 2}px, ${a.y + a.height / 2 - b.y - b.height / 2}px)` };
    to.animate([start, start, { transform: "none" }], { duration: 700, easing: "ease-in-out" });
  };
  const look = () => {
    waits = 0;
    document.querySelectorAll(".js-plotly-plot").forEach(picture => {
      const marks = marksOf(picture);
      if (!marks) delete picture.dataset.answered;
      else if (!picture.dataset.answered) {
        picture.dataset.answered = "yes";
        if (calm.matches) return;
        move(marks.from, marks.to);
        if (marks.frames.length === 2) move(...marks.frames);
      }
    });
  };
  new MutationObserver(() => { waits ||= setTimeout(look, 120); }).observe(document.body, { childList: true, subtree: true });
  look();
}
