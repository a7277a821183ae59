/** A vote: a choice that is made while the network is away waits in this browser, and is sent when it is back. */
const NAME = "explorer-vote", AGAIN = 4000, LOOKS = 500;  // ms

export default function ({ data, setTriggerValue, parentElement }) {
  const page = parentElement.ownerDocument || document, kept = (parentElement.ballot ||= { sent: 0 });
  const add = (parent, name, more = {}) => parent.appendChild(Object.assign(page.createElement(name), more));
  const connected = () => page.querySelector(data.inside.state)?.dataset.testConnectionState === "CONNECTED";
  const waiting = () => {
    try { return JSON.parse(localStorage.getItem(NAME)) ?? kept.waits; } catch { return kept.waits; }
  };
  const wait = (vote) => {
    kept.waits = vote;
    try { vote ? localStorage.setItem(NAME, JSON.stringify(vote)) : localStorage.removeItem(NAME); } catch { /* this page still has it */ }
  };
  const look = () => {
    const vote = waiting(), here = connected();
    const says = here ? (vote ? "Sending your vote …" : "") : `No network. ${vote ? "Your vote is" : "What you choose now is"} kept in this page and sent when the network is back.`;
    if (!here) page.querySelector(data.inside.closes)?.click();  // a message over the choices, which says no more than this
    if (kept.says.textContent !== says) kept.says.textContent = says;
    if (vote && here && Date.now() - kept.sent > AGAIN) { kept.sent = Date.now(); setTriggerValue("vote", vote); }
  };
  const choose = (option) => {
    if (!option.trim()) return;
    kept.sent = 0;
    wait({ number: data.number, option, id: [...crypto.getRandomValues(new Uint8Array(8))].join("-") });
    look();
  };
  const draw = () => {
    const { number, options, over } = data, box = page.createElement("fieldset"), mine = waiting()?.number === number ? waiting().option : data.mine;
    box.disabled = over;
    add(box, "legend", { textContent: options.length ? "Your vote" : "Your number" });
    for (const [option, html] of options) {
      const label = add(box, "label"), radio = add(label, "input", { type: "radio", name: "vote", checked: option === mine });
      radio.onchange = () => choose(option);
      add(label, "span", { innerHTML: html });
    }
    if (!options.length) {
      const field = add(box, "input", { type: "text", value: mine ?? "", ariaLabel: "Your number" });
      field.onchange = () => choose(field.value);
      add(box, "button", { type: "button", textContent: "Vote", onclick: () => choose(field.value) });
    }
    kept.says = page.createElement("p");
    kept.says.setAttribute("role", "status");
    parentElement.querySelector("[data-ballot]").replaceChildren(box, kept.says);
  };
  if (waiting()?.id === data.dealt) wait(null);
  const shown = JSON.stringify([data.number, data.options, data.mine, data.over]);
  if (kept.shown !== shown) { kept.shown = shown; draw(); }
  clearInterval(kept.looks);
  kept.looks = setInterval(look, LOOKS);
  look();
  return () => clearInterval(kept.looks);
}
