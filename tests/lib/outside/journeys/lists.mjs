/** Journeys through lists: filters, columns, keys, and whether they stay up to date. */

export const lists = ({ open, logIn, violations }) => ({
  /** The inbox: one kind of it, what an item is, and items dismissed and brought back by keys. */
  async inbox(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Inbox" }).click();
    const items = page.getByRole("main").getByRole("listitem");
    await items.nth(1).waitFor();
    await page.getByLabel("Kind", { exact: true }).selectOption("Pull request waits");
    await items.nth(1).waitFor({ state: "detached" });
    await page.getByText("What it is").click();
    await page.getByText("Review the pull request").waitFor();
    const found = await violations(page);
    await page.getByRole("button", { name: "Dismissed", exact: true }).press("Enter"); // what has the focus, not the item
    await page.getByText("Nothing of this kind").waitFor();
    await page.getByRole("button", { name: "Inbox", exact: true }).click();
    await items.first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("Nothing of this kind").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await items.first().waitFor();
    await page.getByLabel("Kind", { exact: true }).selectOption("Run failed");
    await page.getByText(values.failed).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Run 8", level: 1 }).waitFor();
    return { errors, found };
  },

  /** Experiments with a tag; a column that is left out stays so. */
  async columns(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Experiments" }).click();
    const table = page.getByRole("table", { name: "Experiments" });
    await table.getByRole("link", { name: values.tag, exact: true }).click();
    await page.getByText("Clear filters").waitFor();
    await table.getByRole("link", { name: values.other, exact: true }).waitFor({ state: "detached" });
    await table.getByRole("rowheader").first().waitFor();
    const names = await table.getByRole("rowheader").allInnerTexts();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Outcome" }).uncheck();
    await page.getByRole("checkbox", { name: "Metric" }).check();
    const found = await violations(page);
    await page.reload();
    await table.waitFor();
    const columns = await table.getByRole("columnheader").allInnerTexts();
    const address = new URL(page.url()).search;
    await page.getByRole("button", { name: "Clear filters" }).click();
    await table.getByRole("link", { name: values.other, exact: true }).waitFor();
    return { errors, found, names, columns, address };
  },

  /** What the chart of a metric says, and its bars: where each begins, and how high it is. */
  async chart(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/evaluations/templates/${values.template}`);
    const chart = page.getByRole("figure").filter({ hasText: values.metric });
    const told = await chart.locator("figcaption").innerText();
    const read = (all) => all.map((each) => ["y", "height"].map((name) => Number(each.getAttribute(name))));
    return { errors, told, bars: await chart.locator("rect").evaluateAll(read) };
  },

  /** Papers are searched from any page, in pages of results, and filtered without words. */
  async papers(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByText("Say what your team works on").waitFor();
    await page.keyboard.press("/");
    await page.getByRole("heading", { name: "Papers", level: 1 }).waitFor();
    await page.waitForFunction(() => document.activeElement?.matches("[role=search] input[type=search]"));
    await page.keyboard.type(values.words);
    await page.keyboard.press("Enter");
    await page.getByText(/best first|The best/).waitFor();
    const matches = await page.locator("mark").allInnerTexts();
    const first = await page.getByRole("article").first().innerText();
    await page.getByRole("navigation", { name: "Rows" }).getByRole("button").last().click();
    await page.getByRole("article").filter({ hasText: first.split("\n")[0] }).waitFor({ state: "detached" });
    const addresses = [new URL(page.url()).search];
    await page.getByRole("heading", { name: "Papers", level: 1 }).click();
    for (const key of ["j", "j", "k", "j"]) await page.keyboard.press(key);
    const second = await page.getByRole("article").nth(1).getByRole("link").first().innerText();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: second, level: 1 }).waitFor();
    await page.goBack();
    await page.getByText(/best first|The best/).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await page.getByLabel("Categories").fill(values.categories.join(" "));
    await page.keyboard.press("Enter");
    await page.getByText("newest first").waitFor();
    const told = await page.getByText("newest first").innerText();
    addresses.push(new URL(page.url()).search);
    const found = await violations(page);
    await page.goto(`${values.url}/console/papers/none`);
    await page.getByRole("heading", { name: "Paper", level: 1 }).waitFor();
    await page.getByRole("alert").getByText("no such asset").waitFor();
    found.push(...(await violations(page)));
    return { errors: errors.filter((each) => !each.includes("404")), found, matches, told, addresses };
  },

  /** A list goes on past its first hundred rows by one key, which keeps the focus, and back from beyond its end. The menu of its
   * columns closes by Escape and by a press elsewhere. */
  async long(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Experiments" }).click();
    const rows = page.getByRole("navigation", { name: "Rows" });
    await rows.getByRole("button", { name: "Next" }).focus();
    for (const range of values.ranges) {
      await page.keyboard.press("Enter");
      await rows.getByText(range, { exact: true }).waitFor();
    }
    await page.getByRole("table", { name: "Experiments" }).getByRole("link", { name: values.last, exact: true }).waitFor();
    const isLast = await rows.getByRole("button", { name: "Next" }).isDisabled();
    await page.goto(`${values.url}/console/experiments?offset=1000`);
    await rows.getByText("No rows are left here").waitFor();
    await rows.getByRole("button", { name: "Previous" }).click();
    await rows.getByText(values.ranges.at(-1), { exact: true }).waitFor();
    const menu = page.getByText("Columns", { exact: true });
    const inside = page.getByRole("checkbox", { name: "Outcome" });
    for (const leave of [() => page.keyboard.press("Escape"), () => page.getByRole("heading", { level: 1 }).click()]) {
      await menu.click();
      await inside.focus();
      await leave();
      await inside.waitFor({ state: "hidden" });
    }
    return { errors, isLast };
  },

  /** A list is asked for again each minute, unless that is switched off; what cannot be asked is said. */
  async live(browser, values) {
    const { page } = await open(browser, values);
    await page.clock.install();
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Experiments" }).click();
    await page.getByText("An experiment starts from a paper").waitFor();
    const isList = (request) => /api.v1.0.experiments/.test(request.url());
    const again = page.waitForRequest(isList);
    await page.clock.fastForward(61_000);
    await again;
    await page.getByLabel("Live").uncheck();
    const asked = [];
    page.on("request", (request) => isList(request) && asked.push(request.url()));
    await page.clock.fastForward(300_000);
    await page.getByRole("link", { name: "Interests" }).click();
    await page.getByText("An interest is what your team works on").waitFor();
    const whileOff = asked.length;
    await page.reload();
    const stays = !(await page.getByLabel("Live").isChecked());
    await page.clock.resume();
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("link", { name: "Evaluations" }).click();
    await page.getByText("Not connected since now").waitFor();
    await page.clock.fastForward(180_000);
    await page.getByText(/Not connected since [34] min/).waitFor();
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "Try again" }).first().click();
    await page.getByText("Not connected since").waitFor({ state: "detached" });
    return { whileOff, stays };
  },
});
