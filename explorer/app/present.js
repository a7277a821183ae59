export default function ({ data, setTriggerValue, parentElement }) {
  const page = parentElement.ownerDocument || document;
  let blank = null;
  const lift = () => { if (blank) { blank.remove(); blank = null; } };
  const hear = event => {
    const at = event.composedPath()[0];
    if (event.ctrlKey || event.altKey || event.metaKey || at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return;
    const key = event.key;
    if (key === "PageDown" || key === "PageUp") setTriggerValue("move", key === "PageDown" ? 1 : -1);
    else if (key === "b" || key === "B") {
      if (blank) return lift();
      blank = page.createElement("div");
      blank.dataset.blank = "yes";
      blank.style.cssText = "position:fixed;inset:0;background:#000;z-index:1000000";
      page.body.append(blank);
    } else if (key === "a" || key === "A") setTriggerValue("answers", 1);
    else return;
    event.preventDefault();
  };
  if (parentElement.hear) page.removeEventListener("keydown", parentElement.hear);  // drawn again: one listener, not two
  parentElement.hear = hear;
  page.addEventListener("keydown", hear);
  return () => { page.removeEventListener("keydown", hear); lift(); };
}
