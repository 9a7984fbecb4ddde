/** Journeys through forms, while others change the same things. */

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

const isRefusal = (each) => /40[09]|412/.test(each);

export const forms = ({ open, logIn, violations }) => ({
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
