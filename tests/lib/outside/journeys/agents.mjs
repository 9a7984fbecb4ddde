/** Journeys about agents: to their pages and runs, and how one is set up. */

export const agents = ({ open, logIn, violations }) => ({
  /** From the list to an agent, and from it to a run, which is also found by its id alone. */
  async agent(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Agents" }).click();
    const period = page.getByText(/^[-0-9]+ to [-0-9]+, UTC$/);
    const told = [await period.innerText()];
    await page.getByRole("button", { name: "7 days" }).click();
    await page.getByText(told[0], { exact: true }).waitFor({ state: "detached" });
    told.push(await period.innerText());
    const daysOf = ([since, until]) => Math.round((Date.parse(until) - Date.parse(since)) / 86_400_000) + 1;
    const periods = told.map((each) => daysOf(each.match(/\d{4}-\d\d-\d\d/g)));
    await page.getByRole("table", { name: "Agents" }).getByRole("link", { name: values.repo, exact: true }).click();
    await page.getByRole("heading", { name: values.repo, level: 1 }).waitFor();
    await page.getByText("What happened").waitFor();
    await page.getByRole("table", { name: "Papers that it followed" }).getByRole("link", { name: values.paper }).waitFor();
    await page.getByRole("button", { name: "Start a run" }).click();
    const dialog = page.getByRole("dialog", { name: `Start a run on ${values.repo}?` });
    await dialog.getByText("A run of it cost").waitFor();
    const asked = await dialog.innerText();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: `Run ${values.run}`, exact: true }).click();
    await page.getByRole("heading", { name: `Run ${values.run}`, level: 1 }).waitFor();
    const passed = page.getByRole("table", { name: "What it chose from" });
    await passed.waitFor();
    await page.getByText("Files that it changed").waitFor();
    await page.getByRole("link", { name: values.paper }).first().waitFor();
    const seen = { periods, asked, passed: await passed.innerText(), main: await page.getByRole("main").innerText() };
    await page.goto(`${values.url}/console/runs/${values.run}`);
    await passed.waitFor();
    return { errors, ...seen, wasRun: await page.evaluate(() => "wasRun" in globalThis) };
  },

  /** What the list offers of an agent whose pull requests are older than the period, and the figures of the days of merges. */
  async old(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Agents" }).click();
    const review = page.getByRole("table", { name: "Agents" }).getByRole("link", { name: "Review its pull request" });
    await review.waitFor();
    const merged = page.getByRole("figure").filter({ hasText: "Merged pull requests a day" });
    await merged.locator("summary").click();
    const cells = await merged.getByRole("row").filter({ has: page.getByRole("rowheader") }).allInnerTexts();
    return { errors, review: await review.getAttribute("href"), days: cells.map((row) => row.trim().split(/\s+/)) };
  },

  /** From the list to the page of each run, and to the same page by its address. */
  async named(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const told = [];
    for (const run of values.runs) {
      await page.getByRole("link", { name: "Agents" }).click();
      await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: `Run ${run}`, exact: true }).click();
      for (const isAgain of [false, true]) {
        if (isAgain) await page.reload();
        await page.getByRole("heading", { name: `Run ${run}`, level: 1, exact: true }).waitFor();
        told.push(await page.getByText(/^agent-\d+$/).first().innerText());
      }
    }
    return { errors, told };
  },

  /** Runs past the first hundred are there, and the papers of an agent beyond the newest ten when they are wanted. */
  async many(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/agents?offset=100`);
    await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: "Run 7", exact: true }).waitFor();
    await page.getByRole("table", { name: "Agents" }).getByRole("link", { name: values.repo, exact: true }).click();
    const papers = page.getByRole("table", { name: "Papers that it followed" });
    await papers.waitFor();
    const counts = [await papers.getByRole("rowheader").count()];
    await page.getByRole("button", { name: /^Show \d+ more$/ }).first().click();
    await papers.getByRole("rowheader").nth(counts[0]).waitFor();
    counts.push(await papers.getByRole("rowheader").count());
    await page.keyboard.press("Enter"); // the button keeps the focus
    await papers.getByRole("rowheader").nth(counts[0]).waitFor({ state: "detached" });
    return { errors, found: await violations(page), counts };
  },

  /** An agent is set up on a repository, which the page follows, and would be set up again as it is; then its connection is given
   * up. */
  async setup(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/interests/${values.interest}`);
    const agent = page.getByLabel("Agent", { exact: true });
    await agent.selectOption("agent_three");
    await page.getByRole("button", { name: "Set up the agent" }).click();
    await page.getByText("merge its pull request").waitFor();
    await page.reload();
    await page.getByText("Set up again", { exact: true }).first().click();
    const again = await agent.inputValue();
    await page.getByRole("button", { name: "Token for the command line" }).click();
    const made = page.getByRole("dialog", { name: "Token for the command line" });
    const token = await made.locator("code").innerText();
    await made.getByRole("button", { name: "Close" }).click();
    const found = await violations(page);
    await page.getByRole("link", { name: "Connect" }).click();
    for (const [provider, left] of [["anthropic", "No key yet"], ["code_host", "Not connected"]]) {
      await page.getByRole("button", { name: `Disconnect ${provider}` }).click();
      const asked = page.getByRole("dialog", { name: `Disconnect ${provider}?` });
      await asked.getByRole("button", { name: "Disconnect", exact: true }).click();
      await asked.waitFor({ state: "detached" });
      await page.getByText(left, { exact: true }).first().waitFor();
    }
    return { errors, found, token, again };
  },

  /** The steps of a set-up that has failed say which one did. */
  async failure(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/interests/${values.interest}`);
    const step = page.getByRole("listitem").filter({ hasText: values.step });
    await step.waitFor();
    return { errors, found: await violations(page), step: await step.innerText() };
  },

  /** An interest is made of what its repository says, and papers are tried on it. */
  async propose(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/interests?new=1`);
    const form = page.getByRole("dialog", { name: "New interest" });
    await form.getByLabel("Repository (optional)").fill(values.repository);
    await form.getByRole("button", { name: "Propose name and context from it" }).click();
    await page.waitForFunction(() => document.querySelector("dialog textarea").value !== "");
    await form.getByRole("button", { name: "Create interest" }).click();
    await page.getByLabel("arXiv ids or titles, one a line").fill("Late interaction for ranking passages\nBread from sourdough");
    await page.getByRole("button", { name: "Rank them" }).click();
    const ranked = page.getByRole("table", { name: "Try it on papers" });
    await ranked.waitFor();
    const [first] = await ranked.getByRole("rowheader").allInnerTexts();
    return { errors, first, address: new URL(page.url()).pathname };
  },
});
