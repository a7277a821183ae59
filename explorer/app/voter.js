export default function ({ setStateValue, parentElement }) {  // a random number that a browser keeps: a page that is loaded again has the same vote
  const page = parentElement.ownerDocument || document, name = "explorer-voter";
  let voter = (page.cookie.match(new RegExp(`(?:^|; )${name}=([0-9a-f]{32})(?:;|$)`)) || [])[1];
  if (!voter) {
    voter = [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("");
    page.cookie = `${name}=${voter}; path=/; max-age=86400; SameSite=Strict`;
  }
  if (parentElement.voter !== voter) { parentElement.voter = voter; setStateValue("voter", voter); }
}
