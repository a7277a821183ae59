export default function ({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector("button"), page = parentElement.ownerDocument || document, held = parentElement;
  const busy = () => (page.querySelector(data.state)?.dataset.testScriptState ?? "notRunning") !== "notRunning";
  const show = () => {
    button.textContent = held.clock ? "❚❚ Pause" : "▶ Play";
    button.setAttribute("aria-label", `${held.clock ? "Pause" : "Play"}: ${held.told.label}`);
  };
  const stop = () => { clearInterval(held.clock); held.clock = 0; show(); };
  const tick = () => {
    if (busy()) return;
    const next = page.querySelector(`.st-key-${held.told.next} button`);
    if (!next || held.told.last) return stop();
    next.click();
  };
  held.told = data;
  button.onclick = () => {
    if (held.clock) return stop();
    if (held.told.last) { held.told.last = false; setTriggerValue("again", 1); }
    held.clock = setInterval(tick, data.pause);
    show();
  };
  show();
  return () => clearInterval(held.clock);
}
