// What a page of the site fetches: compressed files of the site's own folder.

/** A file, decompressed. @param {string} address */
export async function fetched(address) {
  const answer = await fetch(address, { cache: "force-cache" }).catch(() => null); // its name changes with its content
  if (!answer?.ok || !answer.body) throw new Error("A file of this site did not arrive. Load the page again, through a web server.");
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip")));
}
