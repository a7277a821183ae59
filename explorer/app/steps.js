export default function ({ data, setStateValue, parentElement }) {  // the steps of a lesson stay in the browser: a page that is loaded again has them
  const name = "explorer-lesson", kept = parentElement;
  let before = [];
  try { before = JSON.parse(localStorage.getItem(name)) ?? []; } catch { /* a browser that keeps nothing */ }
  if (data.steps === null && before.length && !kept.given) { kept.given = true; setStateValue("steps", before); }
  if (data.steps !== null) try { localStorage.setItem(name, JSON.stringify(data.steps)); } catch { /* they are in the session */ }
}
