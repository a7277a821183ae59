/** A server that answers again may be another one, which knows no part of this page: a key pressed there would do nothing. It computes the page once more. */
export default function ({ data, setTriggerValue, parentElement }) {
  const page = parentElement.ownerDocument || document, app = page.querySelector(data.state);
  let away = app.dataset.testConnectionState !== "CONNECTED";
  const watch = new MutationObserver(() => {
    const here = app.dataset.testConnectionState === "CONNECTED";
    if (here && away) setTriggerValue("back", 1);
    away = !here;
  });
  watch.observe(app, { attributes: true });
  return () => watch.disconnect();
}
