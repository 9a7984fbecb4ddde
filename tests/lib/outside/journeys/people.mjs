/** Journeys of several people, and of their keys. */

/** The pages that are loaded from now on hear nothing from the other windows. */
export const deafen = (where) => where.addInitScript(() => (BroadcastChannel.prototype.addEventListener = () => undefined));

export const people = ({ open, logIn, violations, violationsOfThemes, downloaded }) => ({
  /** An owner looks for a change in the audit log, and saves what a filter leaves of it. */
  async audit(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Audit log" }).click();
    const table = page.getByRole("table", { name: "Audit log" });
    await table.waitFor();
    const found = await violationsOfThemes(page);
    await page.getByLabel("What", { exact: true }).selectOption("keys");
    await page.getByLabel("Who", { exact: true }).selectOption(values.email);
    const rows = table.getByRole("row");
    await rows.filter({ hasText: "key updated" }).first().waitFor();
    await rows.filter({ hasText: "session created" }).first().waitFor({ state: "detached" });
    const texts = await rows.allInnerTexts();
    const file = await downloaded(page, "Download NDJSON");
    const address = new URL(page.url()).search;
    await page.getByLabel("To (UTC)").fill("2020-01-01");
    await page.getByText("No entry matches these filters.").waitFor();
    found.push(...(await violations(page)));
    await page.reload();
    await page.getByText("No entry matches these filters.").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await rows.filter({ hasText: "session created" }).first().waitFor();
    return { errors, found, rows: texts, file, address };
  },

  /** An owner invites somebody, who joins, sees the account and their own, and is removed. */
  async team(browser, values) {
    const owner = await open(browser, values);
    const guest = await open(browser, values);
    await logIn(owner.page, values.key);
    await owner.page.getByRole("link", { name: "Settings" }).click();
    await owner.page.getByRole("button", { name: "Invite" }).click();
    const form = owner.page.getByRole("dialog", { name: "Invite" });
    await form.getByLabel("Address").and(owner.page.locator(":focus")).waitFor();
    await owner.page.keyboard.type(values.email);
    await form.getByRole("button", { name: "Invite" }).click();
    const invitation = await form.locator("code").innerText();
    const found = await violations(owner.page);
    await form.getByRole("button", { name: "Close" }).click();
    const invitations = owner.page.getByRole("table", { name: "Invitations" });
    await invitations.getByText(values.email).waitFor();
    await invitations.getByRole("button", { name: "Revoke" }).click();
    const revocation = owner.page.getByRole("dialog", { name: `Revoke the invitation of ${values.email}?` });
    await revocation.getByRole("button", { name: "Cancel" }).click();
    await revocation.waitFor({ state: "detached" });

    await logIn(guest.page, values.guest);
    await guest.page.goto(invitation);
    await guest.page.getByRole("heading", { name: "Join an account" }).waitFor();
    found.push(...(await violations(guest.page)));
    await guest.page.getByRole("button", { name: "Accept the invitation" }).click();
    const chosen = "[aria-label=Account] option:checked";
    const isShown = (name) =>
      guest.page.waitForFunction(([option, text]) => document.querySelector(option)?.textContent === text, [chosen, name]);
    await isShown(values.team);
    await guest.page.getByLabel("Account", { exact: true }).selectOption({ label: values.own });
    await guest.page.getByRole("button", { name: "Switch to it" }).click();
    await isShown(values.own);

    await owner.page.reload();
    const row = owner.page.getByRole("row").filter({ hasText: values.email });
    const role = owner.page.getByLabel(`Role of ${values.email}`);
    await role.selectOption("admin");
    await row.getByRole("button", { name: "Change the role" }).click();
    await owner.page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await role.and(owner.page.locator(":focus")).waitFor();
    const givenUp = await role.inputValue();
    const isChange = (answer) => answer.url().includes("/team") && answer.request().method() === "PATCH";
    const changed = owner.page.waitForResponse(isChange);
    await role.selectOption("viewer");
    await row.getByRole("button", { name: "Change the role" }).click();
    const change = owner.page.getByRole("dialog", { name: `Change the role of ${values.email} to viewer?` });
    await change.getByText("viewer: reads").waitFor();
    found.push(...(await violations(owner.page)));
    await change.getByRole("button", { name: "Change the role" }).click();
    await changed;
    await change.waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Remove" }).click();
    const asked = owner.page.getByRole("dialog", { name: `Remove ${values.email} from the account?` });
    await asked.getByRole("button", { name: "Remove" }).click();
    await asked.waitFor({ state: "detached" });
    await row.waitFor({ state: "detached" });
    return { errors: [...owner.errors, ...guest.errors], found, givenUp };
  },

  /** An owner gives the account another name, and makes one more, which is shown then. */
  async accounts(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Settings" }).click();
    const say = async (name, value) => {
      await page.getByRole("button", { name }).click();
      const form = page.getByRole("dialog", { name });
      await form.getByLabel("Name of the account").fill(value);
      const found = await violationsOfThemes(page);
      await form.getByRole("button", { name }).click();
      await form.waitFor({ state: "detached" });
      return found;
    };
    const found = await say("Rename the account", values.renamed);
    await page.locator(".nav-account").filter({ hasText: values.renamed }).waitFor();
    found.push(...(await say("New account", values.founded)));
    const chosen = "[aria-label=Account] option:checked";
    const isChosen = ([option, text]) => document.querySelector(option)?.textContent === text;
    await page.waitForFunction(isChosen, [chosen, values.founded]);
    return { errors, found };
  },

  /** Somebody who is invited opens the link, logs in at the provider, and has accepted by that. */
  async newcomer(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await page.goto(`${values.url}${values.invitation}`);
    await page.getByText("By logging in so you accept the invitation").waitFor();
    const found = await violationsOfThemes(page);
    await page.getByRole("link", { name: "Log in with Example SSO" }).click();
    await page.getByLabel("User").fill(values.user);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("table", { name: "Members" }).getByText(`${values.user}@example.org (you)`).waitFor();
    return { errors, found, address: new URL(page.url()).pathname };
  },

  /** Somebody logs in at the provider, from the page that they wanted and back to it, and logs out. */
  async provider(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await page.goto(`${values.url}/console/experiments?status=running`);
    const way = page.getByRole("link", { name: "Log in with Example SSO" });
    await way.waitFor();
    const found = await violationsOfThemes(page);
    const hasKey = await page.getByLabel("Key", { exact: true }).isVisible();
    const log = async () => {
      await way.click();
      await page.getByLabel("User").fill(values.user);
      await page.getByRole("button", { name: "Continue" }).click();
    };
    await log();
    await page.getByRole("heading", { name: "Experiments", level: 1 }).waitFor();
    const address = new URL(page.url());
    await page.getByRole("link", { name: "Settings" }).click();
    const members = page.getByRole("table", { name: "Members" });
    await members.getByText(`${values.user}@example.org (you)`).waitFor();
    const cookies = await page.context().cookies();
    await page.getByRole("button", { name: "Log out" }).click();
    await way.waitFor();
    return { errors, found, hasKey, address: address.pathname + address.search, cookies: cookies.map(({ name }) => name) };
  },

  /** The session of somebody who logs in at the provider ends while they fill a form. They log in again in another window. */
  async aside(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    const way = { name: "Log in with Example SSO" };
    await page.getByRole("link", way).click();
    await page.getByLabel("User").fill(values.user);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Experiments" }).click();
    await page.getByRole("button", { name: "New experiment" }).click();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Mine");
    await page.evaluate(() => fetch("/api/v1.0/session", { method: "DELETE" }));
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    const again = page.getByRole("dialog", { name: "Log in again" });
    await again.waitFor();
    const found = await violationsOfThemes(page);
    await again.getByRole("link", way).click(); // the provider knows the browser
    await again.waitFor({ state: "detached" });
    return { errors, found, typed: await name.inputValue() };
  },

  /** Somebody who logs in with a key adds the log-in at the provider, and needs no key from then on. */
  async addition(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Settings" }).click();
    const found = await violationsOfThemes(page);
    const consent = async (name) => {
      await page.getByRole("link", { name }).click();
      await page.getByLabel("User").fill(values.user);
      await page.getByRole("button", { name: "Continue" }).click();
    };
    await consent("Log in with Example SSO from now on");
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.context().clearCookies(); // of the provider, too: a person at another browser
    await page.goto(`${values.url}/console/settings`);
    await consent("Log in with Example SSO");
    const members = page.getByRole("table", { name: "Members" });
    await members.getByText(`${values.email} (you)`).waitFor();
    return { errors, found, address: new URL(page.url()).pathname };
  },

  /** Keys are made with limits and chosen scopes, copied as on a page without a clipboard, changed, looked at, revoked, and
   * deleted; another session is ended. */
  async keys(browser, values) {
    const other = await open(browser, values);
    await logIn(other.page, values.key);
    const { page, errors } = await open(browser, values);
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Settings" }).click();
    const table = page.getByRole("table", { name: "Keys" });
    const make = async (name, fill) => {
      await page.getByRole("button", { name: "New key" }).click();
      const form = page.getByRole("dialog", { name: "New key" });
      await form.getByLabel("Name", { exact: true }).fill(name);
      await fill(form);
      await form.getByRole("button", { name: "Make key" }).click();
      await form.getByText("Copy the key now").waitFor();
      await form.getByRole("button", { name: "Copy" }).click();
      await form.getByText("Copied", { exact: true }).waitFor();
      const made = await form.locator("code").innerText();
      await form.getByRole("button", { name: "Close" }).click();
      return made;
    };
    await make("robot", async (form) => {
      await form.getByLabel("For", { exact: true }).selectOption("automation");
      await form.getByLabel("Repository, owner/name").fill("acme/ranker");
    });
    const copied = await make("narrow", async (form) => {
      await form.getByLabel("May do").selectOption("chosen scopes");
      await form.getByRole("checkbox", { name: "search:read" }).check();
    });
    const row = (name) => table.getByRole("row").filter({ hasText: name });
    const limited = await row("robot").innerText();
    await row("narrow").getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit the key “narrow”" });
    const name = form.getByLabel("Name", { exact: true });
    await name.fill("");
    await name.press("Control+V");
    const isCopied = (await name.inputValue()) === copied;
    await name.fill("wider");
    await form.getByRole("checkbox", { name: "fleet:read" }).check();
    await form.getByLabel("Expires", { exact: true }).selectOption("in another number of days");
    await form.getByLabel("Days from now").fill("4000");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    await form.getByLabel("Days from now").fill("40");
    const found = await violations(page);
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await row("wider").getByRole("button", { name: "Use" }).click();
    await page.getByText("It was not used in the last 90 days.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    for (const action of ["Revoke", "Delete"]) {
      await row("wider").getByRole("button", { name: action }).click();
      const asked = page.getByRole("dialog");
      await asked.getByRole("button", { name: action }).click();
      await asked.waitFor({ state: "detached" });
      if (action === "Revoke") await row("wider").getByText("revoked").waitFor();
    }
    await row("wider").waitFor({ state: "detached" });
    await page.getByRole("table", { name: "Sessions" }).getByRole("button", { name: "End" }).click();
    await page.getByRole("dialog", { name: /^End the session of Chrome/ }).getByRole("button", { name: "End" }).click();
    await page.getByRole("table", { name: "Sessions" }).getByRole("button", { name: "End" }).waitFor({ state: "detached" });
    await other.page.getByRole("link", { name: "Papers" }).click();
    await other.page.getByRole("heading", { name: "Log in" }).waitFor();
    return { errors, found, limited, isCopied };
  },

  /** Two windows of a browser: one switches the account while the other has a form open, and the other follows. With `isDeaf`,
   * it does not hear of it before it sends the form. */
  async windows(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await logIn(page, values.key);
    const other = await page.context().newPage();
    if (values.isDeaf) await deafen(page);
    await page.goto(`${values.url}/console/settings`);
    await page.getByRole("button", { name: "Invite" }).click();
    const form = page.getByRole("dialog", { name: "Invite" });
    await form.getByLabel("Address").fill("bob@example.org");
    await other.goto(`${values.url}/console/`);
    await other.getByLabel("Account", { exact: true }).selectOption({ label: values.other });
    await other.getByRole("button", { name: "Switch to it" }).click();
    const isShown = (window, name) =>
      window.waitForFunction((text) => document.querySelector("[aria-label=Account] option:checked")?.textContent === text, name);
    await isShown(other, values.other);
    if (values.isDeaf) await form.getByRole("button", { name: "Invite" }).click();
    await isShown(page, values.other);
    await page.getByText("Another window has switched the account").waitFor();
    const hasForm = await form.isVisible();
    if (!values.isDeaf) {
      await other.getByRole("button", { name: "Log out" }).click();
      await page.getByRole("heading", { name: "Log in", level: 1 }).waitFor();
      await logIn(other, values.key);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
    }
    const isRefusal = (each) => each.includes("409");
    return { errors: errors.filter((each) => !isRefusal(each)), refused: errors.filter(isRefusal).length, hasForm };
  },

  /** The session ends while something is typed in one of two windows. The other one is left, and logs in again while the first
   * does not get an answer: what is typed stays there. */
  async typed(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await logIn(page, values.key);
    const other = await page.context().newPage();
    await other.goto(`${values.url}/console/`);
    await other.getByRole("button", { name: "Log out" }).waitFor();
    await page.getByRole("link", { name: "Experiments" }).click();
    await page.getByRole("button", { name: "New experiment" }).click();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Mine");
    await page.evaluate(() => fetch("/api/v1.0/session", { method: "DELETE" }));
    const look = (window) => window.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    const again = page.getByRole("dialog", { name: "Log in again" });
    await look(page);
    await again.waitFor();
    await look(other);
    await other.getByRole("button", { name: "Leave the page" }).click();

    const session = "**/api/v1.0/session";
    await page.route(session, (route) => route.fulfill({ status: 429, json: { title: "Too many requests", status: 429 } }));
    const refused = page.waitForResponse((answer) => answer.status() === 429);
    await logIn(other, values.key);
    await refused;
    await page.unroute(session);
    await look(page);
    await again.waitFor({ state: "detached" });
    return { errors: errors.filter((each) => !each.includes("429")), typed: await name.inputValue() };
  },

  /** All sessions of the account, in pages, and keys, each with whose it is. */
  async sessions(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/settings`);
    const table = page.getByRole("table", { name: "Sessions" });
    const rows = table.getByRole("row").filter({ has: page.getByRole("cell") });
    const section = page.locator("section", { has: page.getByRole("heading", { name: "Sessions", exact: true }) });
    const next = section.getByRole("button", { name: "Next" });
    const shown = [];
    while (shown.length < values.total) {
      if (shown.length > 0) await next.click();
      const count = Math.min(10, values.total - shown.length);
      await rows.nth(count - 1).waitFor();
      await rows.nth(count).waitFor({ state: "detached" });
      shown.push(...(await rows.allInnerTexts()));
    }
    const found = await violationsOfThemes(page);
    await rows.filter({ hasText: values.guest }).last().getByRole("button", { name: "End" }).click();
    const asked = page.getByRole("dialog", { name: /^End the session of / });
    const title = await asked.getByRole("heading").innerText();
    await asked.getByRole("button", { name: "End" }).click();
    await asked.waitFor({ state: "detached" });
    const keys = await page.getByRole("table", { name: "Keys" }).innerText();
    return { errors, found, shown, title, keys };
  },
});
