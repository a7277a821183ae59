// The page on which a model is trained: nothing is fetched but the script itself.
import { mountLearning } from "./learning.js";

await mountLearning(/** @type {HTMLElement} */ (document.getElementById("figure")), null, {});
document.body.dataset.drawn = "yes";
