if (!window.explaining) {  // words of the glossary: their meaning opens where one points, with the focus, and by a tap; Escape closes it
  window.explaining = true;
  const WORDS = "a[href*='glossary#']", GAP = 6;
  const box = document.createElement("div"), says = document.createElement("span"), more = document.createElement("a");
  let word = null, pinned = false, waits = 0, leaves = 0, at = "";
  Object.assign(box, { id: "meaning", role: "tooltip", hidden: true });
  more.textContent = "Glossary";
  box.append(says, " ", more);
  document.body.append(box);
  const upgrade = () => {
    waits = 0;
    document.querySelectorAll(`${WORDS}[title]`).forEach(one => {
      one.dataset.says = one.title;
      one.removeAttribute("title");  // or the browser would show it a second time
      one.setAttribute("role", "button");
      one.setAttribute("aria-expanded", "false");
    });
    if (word && !word.isConnected) close();
  };
  const close = () => {
    word?.setAttribute("aria-expanded", "false");
    word?.removeAttribute("aria-describedby");
    box.hidden = true;
    word = null;
    pinned = false;
  };
  const open = (one, pin) => {
    clearTimeout(leaves);
    if (word !== one) close();
    word = one;
    pinned ||= pin;
    says.textContent = one.dataset.says;
    Object.assign(more, { href: one.href, target: one.target });
    one.setAttribute("aria-expanded", "true");
    one.setAttribute("aria-describedby", box.id);
    box.hidden = false;
    const at = one.getClientRects()[0], { width, height } = box.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, innerWidth - width - 8)), below = at.bottom + GAP;
    box.style.left = `${left}px`;
    box.style.top = `${below + height < innerHeight - 8 ? below : Math.max(8, at.top - GAP - height)}px`;
  };
  const named = event => event.target.closest?.(`${WORDS}[data-says]`);
  const leave = () => { clearTimeout(leaves); leaves = setTimeout(() => pinned || close(), 200); };
  const place = event => `${event.clientX} ${event.clientY}`;
  for (const moves of ["pointermove", "pointerdown"]) document.addEventListener(moves, event => { at = place(event); }, { passive: true });
  document.addEventListener("pointerover", event => {
    if (event.pointerType === "touch") return;
    const one = named(event);
    if (one && (one === word || place(event) !== at) && !(pinned && word !== one)) open(one, false);  // what moves below a pointer is not pointed at
    else if (box.contains(event.target)) clearTimeout(leaves);
    else if (word) leave();
  });
  document.addEventListener("focusin", event => {
    const one = named(event);
    if (one && one.matches(":focus-visible")) open(one, false);
    else if (word && one !== word && !box.contains(event.target)) close();
  });
  document.addEventListener("click", event => {
    const one = named(event);
    if (one) {
      event.preventDefault();
      if (pinned && word === one) close();
      else open(one, true);
    } else if (!box.contains(event.target)) close();
  }, true);
  document.addEventListener("keydown", event => {
    if (!word) return;
    const inside = box.contains(document.activeElement), here = document.activeElement === word;
    if (event.key === "Escape") {
      if (inside) word.focus();
      close();
    } else if (here && event.key === " ") word.click();
    else if (event.key === "Tab" && inside) word.focus({ preventScroll: true });  // and from there on, or back to the word
    else if (event.key === "Tab" && here && pinned && !event.shiftKey) more.focus();
    else return;
    if (event.key !== "Tab" || here || event.shiftKey) event.preventDefault();
    event.stopPropagation();
  }, true);
  document.addEventListener("scroll", close, { capture: true, passive: true });
  new MutationObserver(() => { waits ||= requestAnimationFrame(upgrade); }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["title"] });
  upgrade();
}
