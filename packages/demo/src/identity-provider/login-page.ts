const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 22rem; margin: 12vh auto; padding: 0 1rem }
  label { display: block; margin: 1rem 0 }
  input { display: block; width: 100%; box-sizing: border-box; padding: .6rem; font: inherit }
  button { padding: .6rem 1.2rem; font: inherit; margin-right: .5rem }
  [role=alert] { border-left: .25rem solid #c22; padding-left: .75rem }
  small { opacity: .75 }`;

/** A page of the identity provider; `body` is HTML. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${body}
</body>
</html>
`;
}

export interface LoginPage {
  /** Who asks: the name of the provider. */
  readonly title: string;
  readonly username: string;
  readonly problem: string | null;
}

export function loginPage({ title, username, problem }: LoginPage): string {
  return page(
    title,
    `${problem === null ? "" : `<p role="alert">${escapeHtml(problem)}</p>`}
<form method="post">
<label>Username <input name="username" autocomplete="username" autofocus value="${escapeHtml(username)}"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button name="action" value="sign-in">Sign in</button>
<button name="action" value="cancel">Cancel</button>
</form>
<p><small>A demonstration provider. It answers on this machine alone.</small></p>`,
  );
}

/** Asks before a logout, or goes on at once when the application has shown who is to be signed out. */
export function logoutPage(title: string, form: string, isSure: boolean): string {
  const button = `<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`;
  const goOn = `<script>document.querySelector("button").click()</script>`;
  return page(title, `${form}<p>${button}</p>${isSure ? goOn : ""}`);
}
