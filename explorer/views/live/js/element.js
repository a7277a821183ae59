// What the decoder, the training and the opening build their pages of.

/** An element with a class and a text. @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} name @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]} */
export function element(tag, name, text = "") {
  const created = document.createElement(tag);
  created.className = name;
  created.textContent = text;
  return created;
}
