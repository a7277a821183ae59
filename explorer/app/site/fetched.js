// What a page of the site fetches: compressed files of the site's own folder.

/** A file, decompressed. @param {string} address */
export async function fetched(address) {
  const answer = await fetch(address, { cache: "force-cache" }).catch(() => null); // its name changes with its content
  if (!answer?.ok || !answer.body) throw new Error("A file of this site did not arrive. Load the page again, through a web server.");
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip")));
}

/** A model as explorer/models/packing.py packed it. @param {string} address */
export async function unpacked(address) {
  return joined(new Uint8Array(await (await fetched(address)).arrayBuffer()));
}

/** It, from the form in which it travels (explorer/app/site/live_pages.py): the low bytes
 * of all weights, then the high ones. @param {Uint8Array<ArrayBuffer>} sent */
function joined(sent) {
  const head = 4 + new DataView(sent.buffer).getUint32(0, true), half = (sent.length - head) / 2, pack = sent.slice();
  for (let n = 0; n < half; n++) [pack[head + 2 * n], pack[head + 2 * n + 1]] = [sent[head + n], sent[head + half + n]];
  return pack;
}
