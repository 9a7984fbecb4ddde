/** Journeys through what fails: scripts that do not come, work that does not end. */

import { DIGESTS, withoutPapers } from "./digest.mjs";

const MINUTE_MS = 60_000;

export const faults = ({ open, logIn, violationsOfThemes }) => ({
  /** The first script does not come: the page says so, and its link loads it again. Then that of a page. */
  async scripts(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    const first = "**/assets/main-*.js";
    await page.route(first, (route) => route.abort());
    await page.goto(`${values.url}/console/interests`);
    const told = page.getByText("The console has not started");
    await told.waitFor();
    const found = await violationsOfThemes(page);
    await page.unroute(first);
    await page.getByRole("link", { name: "reload the page" }).click();
    await logIn(page, values.key);
    const isToldStill = await told.isVisible();
    await page.getByRole("heading", { name: "Interests", level: 1 }).waitFor();
    await page.route("**/assets/Inbox-*.js", (route) => route.abort());
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("heading", { name: "This page does not work", level: 1 }).waitFor();
    found.push(...(await violationsOfThemes(page)));
    await page.getByRole("link", { name: "Papers" }).click();
    await page.getByRole("heading", { name: "Papers", level: 1 }).waitFor();
    await page.unroute("**/assets/Inbox-*.js");
    await page.goBack();
    await page.getByRole("button", { name: "Reload the page" }).click();
    await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
    return { errors: errors.filter((each) => !/ERR_FAILED|import/.test(each)), found, isToldStill };
  },

  /** Ratings that are refused: one before another that is not, one that is taken back before it has arrived, and one of a paper
   * that has another. */
  async refusals(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    const refused = [true, false, false, false, true];
    const sent = [];
    await page.route(/\/feedback/, async (route) => {
      const method = route.request().method();
      sent.push(`${method} sent`);
      await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
      if (refused.shift()) await route.fulfill({ status: 500, json: { title: "Refused", status: 500 } });
      else await route.fulfill({ response: await route.fetch() });
      sent.push(`${method} answered`);
    });
    await logIn(page, values.key);
    const [first, second, third] = [0, 1, 2].map((each) => page.getByRole("article").nth(each));
    await first.getByRole("button", { name: "Like", exact: true }).click();
    await second.getByRole("button", { name: "Like", exact: true }).click();
    await second.getByRole("button", { name: "Undo" }).click();
    await second.getByRole("button", { name: "Like", exact: true }).waitFor();
    await first.getByRole("alert").waitFor();
    const answered = page.waitForResponse((each) => each.request().postData()?.includes("save"));
    await third.getByRole("button", { name: "Save" }).click();
    await answered;
    const found = await violationsOfThemes(page);
    await page.keyboard.press("k");
    await page.keyboard.press("d");
    await third.getByText("Disliked", { exact: true }).waitFor();
    await third.getByText("Saved", { exact: true }).waitFor();
    const told = await Promise.all([first, second, third].map((each) => each.getByRole("alert").count()));
    await page.unrouteAll({ behavior: "wait" });
    return { errors: errors.filter((each) => !each.includes("500")), found, told, sent };
  },

  /** Two papers are liked, and these ratings changed, by somebody who leaves the page before it has an answer. */
  async left(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("article").first().waitFor();
    await page.evaluate(() => {
      const send = globalThis.fetch;
      const never = new Promise(() => undefined);
      globalThis.fetch = async (request) => {
        const answer = await send(request);
        return request.url.includes("/feedback") ? never : answer;
      };
    });
    const [first, second] = [0, 1].map((each) => page.getByRole("article").nth(each));
    for (const [paper, then] of [[first, "Save"], [second, "Like"]]) {
      const answered = page.waitForResponse((each) => each.url().includes("/feedback"));
      await paper.getByRole("button", { name: "Like", exact: true }).click();
      await answered;
      await paper.getByRole("button", { name: "Undo" }).click();
      await paper.getByRole("button", { name: then, exact: true }).click();
    }
    await page.goto(`${values.url}/console/licenses`);
    await page.waitForFunction(async () => {
      const papers = await (await fetch("/api/v1.0/papers/recommended")).json();
      return papers.some(({ signals }) => signals.includes("save")); // before the browser that sends it is closed
    });
    return { errors };
  },

  /** How often a digest is asked for whose interest stays without recommendations: in the first minute, and in one an hour
   *  later. */
  async awaited(browser, values) {
    const { page, errors } = await open(browser, values);
    await page.clock.install();
    let [asked, answered] = [0, 0];
    let known;
    await page.route(DIGESTS, async (route) => {
      asked += 1;
      known ??= await withoutPapers(route);
      await route.fulfill({ json: known });
      answered += 1;
    });
    await logIn(page, values.key);
    await page.getByText("The first recommendations are being computed").waitFor();
    const countFor = async (ms) => {
      const before = asked;
      for (let at = 0; at < ms; at += 1000) {
        await page.clock.runFor(1000);
        while (asked > answered) await page.evaluate(() => undefined); // a turn of the loop
      }
      return asked - before;
    };
    const first = await countFor(MINUTE_MS);
    await page.clock.fastForward(60 * MINUTE_MS);
    await countFor(MINUTE_MS);
    const later = await countFor(4 * MINUTE_MS);
    await page.unrouteAll({ behavior: "wait" });
    return { errors, first, later };
  },

  /** The answers to the creation of an experiment and to its deletion are lost, and the buttons pressed again. */
  async lost(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const told = [];
    const lose = async (method, press) => {
      const answers = [];
      await page.route(/\/api\/v1\.0\/experiments(\/[^/?]+)?$/, async (route) => {
        if (route.request().method() !== method) return route.fallback();
        const answer = await route.fetch();
        answers.push({ status: answer.status(), key: route.request().headers()["idempotency-key"] });
        return answers.length === 1 ? route.abort() : route.fulfill({ response: answer });
      });
      await press();
      const alert = page.getByRole("alert");
      await alert.waitFor();
      told.push(await alert.innerText());
      await press();
      await alert.waitFor({ state: "detached" });
      await page.unrouteAll({ behavior: "wait" });
      return answers;
    };
    await page.getByRole("link", { name: "Experiments" }).click();
    await page.getByRole("button", { name: "New experiment" }).click();
    await page.getByLabel("Name", { exact: true }).fill(values.name);
    const made = await lose("POST", () => page.getByRole("button", { name: "Save" }).click());
    await page.getByRole("heading", { name: values.name, level: 1 }).waitFor();
    const count = await page.evaluate(async () => (await (await fetch("/api/v1.0/experiments")).json()).length);
    await page.getByRole("button", { name: "Delete" }).click();
    const asked = page.getByRole("dialog");
    const deleted = await lose("DELETE", () => asked.getByRole("button", { name: "Delete" }).click());
    await page.getByRole("heading", { name: "Experiments", level: 1 }).waitFor();
    return { errors: errors.filter((each) => !/ERR_FAILED|404/.test(each)), told, made, count, deleted };
  },
});
