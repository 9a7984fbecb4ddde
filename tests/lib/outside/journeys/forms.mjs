/** Journeys through forms, while others change the same things. */

import { deafen } from "./people.mjs";

/** Whoever has the session of the page calls the API besides. */
const call = (page, method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`/api/v1.0${path}`, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
    },
    [method, path, body],
  );

/** Their change has been seen: the form says so, and takes it over. */
async function load(form) {
  const told = form.getByRole("alert").filter({ hasText: "It was changed meanwhile" });
  await told.getByRole("button", { name: "Load it as it is now" }).click();
  await told.waitFor({ state: "detached" });
}

const isRefusal = (each) => /40[09]|412/.test(each);

export const forms = ({ open, logIn, violations, violationsOfThemes }) => ({
  /** An experiment is changed while somebody else changes it. */
  async edits(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    const save = form.getByRole("button", { name: "Save" });
    const isIdle = await save.isDisabled();
    const tags = await form.getByLabel("Tags").inputValue();
    await form.getByLabel("Name").fill("Mine");
    await form.getByLabel("Hypothesis").fill("Mine");
    await call(page, "PUT", `/experiments/${values.experiment}`, { hypothesis: "Theirs", decision: "Theirs" });
    await save.click();
    const told = form.getByRole("alert").filter({ hasText: "It was changed meanwhile" });
    await told.waitFor();
    const found = await violations(page);
    await told.getByRole("button", { name: "Load it as it is now" }).click();
    await told.waitFor({ state: "detached" });
    await form.getByText("Meanwhile it became: Theirs").waitFor();
    const shown = await Promise.all(["Name", "Hypothesis", "Decision"].map((name) => form.getByLabel(name).inputValue()));
    await save.click();
    await form.waitFor({ state: "detached" });
    return { errors: errors.filter((each) => !isRefusal(each)), found, isIdle, tags: tags.split("\n"), shown };
  },

  /** An experiment is changed behind a proxy that compresses answers, and so makes their tags weak. */
  async weak(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const tags = [];
    await page.route(`**/api/v1.0/experiments/${values.experiment}`, async (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const answer = await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
      tags.push(`W/${answer.headers().etag}`);
      await route.fulfill({ json: await answer.json(), headers: { etag: tags.at(-1) } });
    });
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByLabel("Name").fill("Mine");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "wait" });
    return { errors, tags };
  },

  /** What is typed in the fields of some forms comes to what was there: they do not offer to save it. */
  async same(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    for (const { path, label, add } of values.things) {
      await page.goto(`${values.url}/console/${path}`);
      await page.getByRole("button", { name: "Edit" }).click();
      const form = page.getByRole("dialog", { name: "Edit" });
      const [field, save] = [form.getByLabel(label, { exact: true }), form.getByRole("button", { name: "Save" })];
      const before = await field.inputValue();
      await field.fill(`${before}${add}x`);
      await save.and(page.locator(":enabled")).waitFor();
      await field.fill(`${before}${add}`);
      await save.and(page.locator(":disabled")).waitFor();
    }
    return { errors };
  },

  /** An endpoint cannot lose its name. */
  async nameless(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/settings/endpoints/${values.endpoint}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    const name = form.getByLabel("Name", { exact: true });
    await name.fill("");
    await form.getByRole("button", { name: "Save" }).click();
    const isMissing = await name.evaluate((field) => field.validity.valueMissing);
    await name.fill("Renamed");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    return { errors, isMissing };
  },

  /** The hour of a digest is changed while one is sent: only the time of the next one is another then. */
  async sent(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/settings/endpoints/${values.endpoint}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByLabel("At", { exact: true }).fill("09:30");
    await page.route(`**/api/v1.0/webhooks/${values.endpoint}`, async (route) => {
      if (route.request().method() !== "GET") return route.fallback();
      const headers = { ...route.request().headers(), "sec-fetch-site": "same-origin" };
      const endpoint = await (await route.fetch({ headers })).json();
      await route.fulfill({ json: { ...endpoint, digest: { ...endpoint.digest, next_at: "2026-01-31T07:00:00.000Z" } } });
    });
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "wait" });
    return { errors };
  },

  /** A schedule, a budget and a digest are changed while somebody else changes the same of them. */
  async overlapping(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const become = (form, ...told) => Promise.all(told.map((each) => form.getByText(`Meanwhile it became: ${each}`).waitFor()));

    await page.goto(`${values.url}/console/interests/${values.interest}`);
    const schedule = page.locator("form", { has: page.getByLabel("At", { exact: true }) });
    await schedule.getByLabel("On", { exact: true }).selectOption("Tuesday");
    await schedule.getByLabel("At", { exact: true }).fill("09:30");
    await call(page, "PUT", `/interests/${values.interest}`, { schedule: { weekday: 5, hour: 8 } });
    const save = schedule.getByRole("button", { name: "Save" });
    await save.click();
    await load(schedule);
    await become(schedule, "Friday", "08:00");
    const found = await violations(page);
    await save.click();
    await save.and(page.locator(":disabled")).waitFor();

    await page.goto(`${values.url}/console/agents/budgets`);
    await page.getByRole("link", { name: "The account" }).click();
    const budget = page.getByRole("dialog");
    await budget.getByRole("button", { name: "Edit" }).click();
    await budget.getByLabel("Budget in dollars").fill("120");
    await budget.getByLabel("When it is spent").selectOption("stop");
    await call(page, "PUT", "/fleet/budgets", { ...values.budget, usd: 90, time_zone: "Asia/Tokyo" });
    await budget.getByRole("button", { name: "Save" }).click();
    await load(budget);
    await become(budget, "90");
    await budget.getByRole("button", { name: "Save" }).click();
    await budget.getByText("$120 a month").first().waitFor();

    await page.goto(`${values.url}/console/settings/endpoints/${values.endpoint}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const endpoint = page.getByRole("dialog", { name: "Edit" });
    await endpoint.getByLabel("At", { exact: true }).fill("09:30");
    await call(page, "PATCH", `/webhooks/${values.endpoint}`, { digest: { hour: 7, time_zone: "Asia/Tokyo" } });
    await endpoint.getByRole("button", { name: "Save" }).click();
    await load(endpoint);
    await become(endpoint, "07:00");
    await endpoint.getByRole("button", { name: "Save" }).click();
    await endpoint.waitFor({ state: "detached" });
    return { errors: errors.filter((each) => !isRefusal(each)), found };
  },

  /** The session ends while an experiment is changed. The same person logs in above the page and goes on; another one gets a page
   * of their own. */
  async interrupted(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    await deafen(page.context());
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    const again = page.getByRole("dialog", { name: "Log in again" });
    const interrupt = async () => {
      const other = await page.context().newPage();
      await other.goto(`${values.url}/console/`);
      await other.getByRole("button", { name: "Log out" }).click();
      await other.getByRole("heading", { name: "Log in" }).waitFor();
      await other.close();
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
      await again.waitFor();
    };
    const give = async (key) => {
      await again.getByLabel("Key", { exact: true }).fill(key);
      await again.getByRole("button", { name: "Log in" }).click();
    };
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    const hypothesis = form.getByLabel("Hypothesis");
    await hypothesis.fill("Mine");
    await interrupt();
    const found = await violationsOfThemes(page);
    const escape = async () => {
      for (let each = 0; each < 3; each += 1) await page.keyboard.press("Escape");
    };
    await escape();
    await page.evaluate(() => document.activeElement.blur());
    await escape();
    await again.evaluate((dialog) => dialog.close()); // as a phone's gesture does
    await give(`${values.key}0`);
    await again.getByRole("alert").waitFor();
    await give(values.key);
    await again.waitFor({ state: "detached" });
    const typed = await hypothesis.inputValue();
    const isFocused = await hypothesis.evaluate((field) => field === document.activeElement);
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit" }).click();
    await hypothesis.fill("Mine again");
    await interrupt();
    await give(values.other);
    await form.waitFor({ state: "detached" });
    await page.getByRole("alert").first().waitFor(); // there is no such experiment of theirs
    await page.getByRole("link", { name: "Interests" }).click();
    await interrupt();
    await again.getByRole("button", { name: "Leave the page" }).click();
    await page.getByRole("heading", { name: "Log in", level: 1 }).waitFor();
    return { errors: errors.filter((each) => !each.includes("404")), found, typed, isFocused };
  },

  /** A program fills the form and submits it before the page is drawn again. */
  async filled(browser, values) {
    const { page, errors } = await open(browser, values);
    const field = page.getByLabel("Key", { exact: true });
    await field.evaluate((element, key) => {
      element.value = key;
      element.dispatchEvent(new Event("input", { bubbles: true }));
      element.form.querySelector("[type=submit]").click();
    }, values.key);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    return { errors };
  },

  /** An interest is paused by two at once, and loses its repository. */
  async interest(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/interests/${values.interest}`);
    const pause = page.getByRole("button", { name: "Pause", exact: true });
    await pause.waitFor();
    await call(page, "PUT", `/interests/${values.interest}`, { is_active: false });
    await pause.click();
    await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByLabel("Repository").fill("");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    return { errors, computing: await page.getByText("computing", { exact: true }).count() };
  },

  /** A project and a template get another description while somebody else renames them. */
  async renamed(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    for (const [path, api] of values.things) {
      await page.goto(`${values.url}/console/${path}`);
      await page.getByRole("button", { name: "Edit" }).click();
      const form = page.getByRole("dialog", { name: "Edit" });
      await form.getByLabel("Description").fill("Mine");
      await call(page, "PUT", api, { name: "Theirs" });
      await form.getByRole("button", { name: "Save" }).click();
      await form.getByRole("button", { name: "Load it as it is now" }).click();
      await page.getByRole("heading", { name: "Theirs", level: 1 }).waitFor();
      await form.getByRole("button", { name: "Save" }).click();
      await form.waitFor({ state: "detached" });
    }
    return { errors: errors.filter((each) => !isRefusal(each)) };
  },

  /** A paper becomes an experiment with its title, whatever that is. */
  async titled(browser, values) {
    const { page, errors } = await open(browser, values);
    await page.route("**/api/v1.0/papers/recommended/digest*", async (route) => {
      const body = await (await route.fetch()).text();
      await route.fulfill({ json: JSON.parse(body, (name, value) => (name === "title" ? values.title : value)) });
    });
    await logIn(page, values.key);
    await page.getByRole("button", { name: "Plan an experiment" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Plan an experiment" });
    await dialog.getByRole("button", { name: "Create experiment" }).click();
    await dialog.waitFor({ state: "detached" });
    return { errors };
  },

  /** A budget is made by a browser whose time zone has an old name. */
  async zone(browser, values) {
    const { page, errors } = await open(browser, values, { timezoneId: values.zone });
    await logIn(page, values.key);
    const named = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
    await page.goto(`${values.url}/console/agents/budgets?new=1`);
    const form = page.getByRole("dialog", { name: "New budget" });
    await form.getByLabel("Budget in dollars").fill("20");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    return { errors, named };
  },

  /** What is taken of a budget, where it would be made again, and the bars of one: the value and the end of each. */
  async taken(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/agents/budgets`);
    await page.getByRole("link", { name: "The account" }).first().waitFor();
    await page.getByRole("button", { name: "New budget" }).click();
    const form = page.getByRole("dialog", { name: "New budget" });
    const told = await form.getByText("There is one already").innerText();
    await form.getByLabel("Period").selectOption("day");
    await form.getByRole("button", { name: "Open that one" }).click();
    const bars = page.getByRole("dialog", { name: "The account, a day" }).getByRole("meter");
    await bars.first().waitFor();
    return { errors, told, bars: await bars.evaluateAll((meters) => meters.map(({ value, max }) => [value, max])) };
  },

  /** A budget that there is already is not made again, also when somebody else has made it since. */
  async replaced(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/agents/budgets`);
    await page.getByRole("link", { name: "The account" }).waitFor();
    await page.getByRole("button", { name: "New budget" }).click();
    const form = page.getByRole("dialog", { name: "New budget" });
    await form.getByText("There is one already: $100 a month").waitFor();
    const found = await violations(page);
    const save = form.getByRole("button", { name: "Save" });
    const isOffered = await save.isEnabled();
    await form.getByLabel("Period").selectOption("week");
    await form.getByLabel("Budget in dollars").fill("5");
    await call(page, "PUT", "/fleet/budgets", { scope: "account", period: "week", usd: 70 });
    await save.click();
    await form.getByText("There is one already: $70.00 a week").waitFor();
    await form.getByRole("button", { name: "Open that one" }).click();
    await page.getByRole("dialog", { name: "The account, a week" }).getByText("$70.00 a week").first().waitFor();
    return { errors, found, isOffered };
  },

  /** A feed from a score that is no number is not made. */
  async feed(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByRole("button", { name: "New feed" }).click();
    const form = page.getByRole("dialog", { name: "New feed" });
    const least = form.getByLabel("Only papers from this score");
    await least.fill("0,7");
    await form.getByRole("button", { name: "Make the feed" }).click();
    await form.getByRole("alert").getByText("This must be a number").waitFor();
    await least.fill(".7");
    await form.getByRole("button", { name: "Make the feed" }).click();
    await form.locator("code").waitFor();
    return { errors };
  },

  /** A run that cannot be started yet, and one that will fail, are told so. */
  async starts(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const answers = [
      { status: 409, json: { pool_building: true } },
      { status: 200, json: { model_key_missing: true } },
    ];
    await page.route("**/api/v1.0/fleet/trigger", (route) => route.fulfill(answers.shift()));
    await page.goto(`${values.url}/console/agents/${values.repo}`);
    await page.getByRole("button", { name: "Start a run" }).click();
    const form = page.getByRole("dialog", { name: `Start a run on ${values.repo}?` });
    const start = form.getByRole("button", { name: "Start a run" });
    await start.click();
    const refused = await form.getByRole("alert").innerText();
    await start.click();
    await form.waitFor({ state: "detached" });
    const warned = await page.getByText("The run was started").innerText();
    return { errors: errors.filter((each) => !isRefusal(each)), refused, warned };
  },
});
