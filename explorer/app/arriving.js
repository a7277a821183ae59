// A component whose module comes from an address of the server, once, and every rerun of the page is handed on to it.

/** @typedef {{heldHere?: boolean, heldLeave?: () => void}} Held what is remembered between two reruns */

/** @type {Promise<{default: (host: any) => () => void}>} */
const arriving = import(new URL("ADDRESS", document.baseURI).href);

/** Called by Streamlit at every rerun, with the same element. @param {{parentElement: HTMLElement & Held}} host */
export default function (host) {
  const place = host.parentElement;
  place.heldHere = true;
  arriving.then(
    (module) => { if (place.heldHere) place.heldLeave = module.default(host); },
    () => { /** @type {HTMLElement} */ (place.querySelector("[data-board], [data-opening]")).textContent = "The script of this picture did not arrive. Load this page again."; },
  );
  return () => {
    place.heldHere = false;
    place.heldLeave?.();
  };
}
