/** As people spell them: `access_token`, `accessToken`, `ACCESS-TOKEN` and `token[]` are all meant. */
const forbidden = new Set(["token", "accesstoken", "refreshtoken", "idtoken"]);

/** Whether a request target carries a token. URLs end up in logs, histories and referrers. */
export function hasTokenInUrl(url: string): boolean {
  const start = url.indexOf("?");
  if (start === -1) return false;
  for (const pair of url.slice(start + 1).split(/[&;]/)) {
    const [name = ""] = pair.split("=", 1);
    const plain = decode(name)
      .replace(/\[.*$/, "")
      .replace(/[\s_-]/g, "")
      .toLowerCase();
    if (forbidden.has(plain)) return true;
  }
  return false;
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    // Not percent-encoded text, so nobody reads it as anything but itself.
    return name;
  }
}
