// The page on which a model is trained: nothing is fetched but the script itself.

/** @type {typeof import("../../views/learning/js/learning.js")} joined to one file with what it needs */
const { mountLearning } = await import(new URL("learning.js", import.meta.url).href);

await mountLearning(/** @type {HTMLElement} */ (document.getElementById("figure")), null, { address: "?run=" });
document.body.dataset.drawn = "yes";
