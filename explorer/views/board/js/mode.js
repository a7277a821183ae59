// Whether a page is light or dark: the one place that asks, for the board in every home and for the pictures of a notebook.

const DARK = "(prefers-color-scheme: dark)";

/** As told, as JupyterLab or VS Code is, or as the reader's system is. @param {"light" | "dark" | null} [told] @returns {"light" | "dark"} */
export function modeOf(told) {
  const { jpThemeLight: light, vscodeThemeKind: code } = document.body.dataset;
  return told || ((light ? light === "false" : code ? code.includes("dark") : matchMedia(DARK).matches) ? "dark" : "light");
}

/** Call `again` when it changes, until what comes back is called. @param {() => void} again */
export function whenTurned(again) {
  const system = matchMedia(DARK), lab = new MutationObserver(again);
  system.addEventListener("change", again);
  lab.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "class"] });
  return () => {
    system.removeEventListener("change", again);
    lab.disconnect();
  };
}
