export default function ({ data, parentElement }) {  // one region that stays while its words change: only then does a screen reader say them
  const place = parentElement.querySelector("[role=status]");
  for (const kind of ["heard", "seen"]) {
    const part = place.querySelector(`.${kind}`);
    if (part.textContent !== data[kind]) part.textContent = data[kind];
  }
}
