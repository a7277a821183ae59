// The corruption lab: recorded pictures, each drawn when it comes into view.
import { fetched } from "./fetched.js";

const dark = matchMedia("(prefers-color-scheme: dark)"), root = /** @type {HTMLElement} */ (document.getElementById("lab"));

/** plotly, as one script of this page. @returns {Promise<any>} */
async function plotly() {
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([await (await fetched(root.dataset.plotly ?? "")).text()], { type: "text/javascript" }));
  await new Promise((loaded, failed) => {
    Object.assign(script, { onload: loaded, onerror: failed });
    document.head.append(script);
  });
  return /** @type {any} */ (globalThis).Plotly;
}

try {
  const [Plotly, { figures, config }] = await Promise.all([plotly(), fetched(root.dataset.pictures ?? "").then((answer) => answer.json())]);
  const draw = async (/** @type {HTMLElement} */ place) => {
    const { data, layout, looks } = figures[place.dataset.picture ?? ""];
    await Plotly.react(place, data, { ...layout, template: looks[dark.matches ? "dark" : "light"] }, config);
    place.dataset.drawn = "yes";
  };
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) {
        seen.unobserve(target);
        void draw(/** @type {HTMLElement} */ (target));
      }
  }, { rootMargin: "300px" });
  const places = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("[data-picture]")]);
  places.forEach((place) => seen.observe(place));
  dark.addEventListener("change", () => places.filter((place) => place.dataset.drawn).forEach(draw));
  document.body.dataset.drawn = "yes";
} catch (error) {
  root.prepend(String(/** @type {any} */ (error).message ?? error));
}
