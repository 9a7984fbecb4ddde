/**
 * Journeys through the console in Chromium. A journey looks for what a person sees, never for a class.
 *
 * usage: node browser.mjs CHROMIUM     answers {"journey", "values": {"url", "key", ...}} by what it saw
 *
 * `errors` are what the pages logged as errors, and reports of the content security policy: each journey must end without.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { chromium } from "playwright-core";

import { answerQuestions } from "./answering.mjs";
import { agents } from "./journeys/agents.mjs";
import { DIGESTS, withoutPapers } from "./journeys/digest.mjs";
import { faults } from "./journeys/faults.mjs";
import { forms } from "./journeys/forms.mjs";
import { lists } from "./journeys/lists.mjs";
import { filledButtons, isBarStretched, isWiderThanWindow } from "./journeys/looks.mjs";
import { deafen, people } from "./journeys/people.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] };
const COLOR_RULES = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
const PAGES = [
  "", "interests", "papers", "papers?q=retrieval", "experiments", "experiments/projects", "experiments/projects?new=1",
  "agents", "agents/budgets", "agents/budgets?new=1", "inbox", "connect", "evaluations",
  "evaluations?view=templates", "evaluations?view=builds",
  "evaluations?view=templates&new=1", "settings", "settings/audit",
];
/** Of no account. */
const COMMON_PAGES = [
  "licenses", "no/such/page", "../docs/guide", "../docs/guide/story", "../docs/guide/today", "../docs", "../docs/interest_create",
  "../docs/none",
];
const SIZES = [
  { width: 1200, height: 850 },
  { width: 320, height: 640 },
];

/** Answers 401 to the question whether there is a session are how the log-in page is found. */
const isExpected = (text) => text.includes("401");

async function open(browser, { url }, options = {}) {
  const context = await browser.newContext({ viewport: SIZES[0], ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !isExpected(message.text())) errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${url}/console/`);
  return { page, errors };
}

async function logIn(page, key) {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

/** All charts with their tables, and all that is folded. */
const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));

async function violations(page, rules = RULES) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const options = { runOnly: rules, resultTypes: ["violations"] };
  const found = await page.evaluate(async (options) => (await globalThis.axe.run(options)).violations, options);
  return found.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

/** The violations in the light theme, and of those that the theme can change, which is style alone, in the dark one. */
async function violationsOfThemes(page) {
  await page.emulateMedia({ colorScheme: "light" });
  const found = await violations(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await violations(page, COLOR_RULES);
  return [...found, ...dark.map((each) => `dark ${each}`)];
}

/** The file that a button saves, as text. */
async function downloaded(page, button) {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  return readFileSync(await (await download).path(), "utf8");
}

const JOURNEYS = {
  /** `pages`, or every page of an account and, with `paths`, these and the common ones, in both themes and two widths. */
  async pages(browser, values) {
    const { page, errors } = await open(browser, values, { reducedMotion: "reduce" });
    const found = (await violationsOfThemes(page)).map((each) => `log-in ${each}`);
    const titles = {};
    await logIn(page, values.key);
    for (const path of values.pages ?? [...PAGES, ...(values.paths ? [...COMMON_PAGES, ...values.paths] : [])]) {
      await page.goto(`${values.url}/console/${path}`);
      await page.locator("main h1").waitFor();
      await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
      titles[path] = await page.title();
      for (const size of SIZES) {
        await page.setViewportSize(size);
        if (await isWiderThanWindow(page)) found.push(`${path} is wider than ${size.width}`);
      }
      if (await isBarStretched(page)) found.push(`the bar above ${path} is stretched`);
      if ((await filledButtons(page)) > 1) found.push(`${path} has several filled buttons`);
      await unfold(page);
      for (const size of SIZES) {
        await page.setViewportSize(size);
        if (await isWiderThanWindow(page)) found.push(`${path}, unfolded, is wider than ${size.width}`);
      }
      found.push(...(await violationsOfThemes(page)).map((each) => `${path} ${each}`));
    }
    found.push(...errors);
    return { found, titles };
  },

  /** Log in, rate by keyboard, take the last one back, see why, switch the keys off and on, log out, which fails at first. */
  async rate(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByText(/papers? for 1 interest/).waitFor();
    const cards = page.getByRole("article");
    await page.keyboard.press("j");
    await page.keyboard.press("l");
    await page.getByText("Liked", { exact: true }).waitFor();
    await page.keyboard.press("d");
    await page.getByText("Disliked", { exact: true }).waitFor();
    const help = page.getByRole("dialog", { name: "Keys" });
    const switchKeys = async () => {
      await page.getByRole("button", { name: "Keyboard" }).click();
      await help.getByLabel("Use these keys").click();
      await help.getByRole("button", { name: "Close" }).click();
    };
    await switchKeys();
    await page.keyboard.press("u");
    await switchKeys();
    await page.keyboard.press("w");
    const why = page.getByRole("dialog", { name: "Why this paper" });
    await why.getByText("Words and meaning of the interest").waitFor();
    await page.keyboard.press("Escape");
    const kept = await page.getByText(/^(Liked|Disliked)$/).allInnerTexts();
    await page.keyboard.press("u");
    await page.getByText("Disliked", { exact: true }).waitFor({ state: "detached" });
    await page.keyboard.press("w");
    await why.waitFor();
    await page.reload(); // what is open is in the address
    await why.waitFor();
    await page.keyboard.press("Escape");
    await why.waitFor({ state: "detached" });
    await page.route("**/api/v1.0/session", (route) => route.abort());
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("alert").getByText("The server does not answer").waitFor();
    const stays = await cards.count();
    await page.unroute("**/api/v1.0/session");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    return { errors: errors.filter((each) => !each.includes("ERR_FAILED")), kept, stays };
  },

  /** A paper becomes an experiment; the experiment is changed, and its history says so. */
  async plan(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("button", { name: "Plan an experiment" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Plan an experiment" });
    await dialog.getByLabel("Name").fill("From the console");
    await dialog.getByRole("button", { name: "Create experiment" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Open it" }).click();
    await page.getByRole("heading", { name: "From the console", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Status").selectOption("running");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("changed status").waitFor();
    return { errors, address: new URL(page.url()).pathname };
  },

  /** A project is made, an experiment in it, and the project is renamed and deleted: the experiment stays. */
  async project(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const save = () => page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "Experiments" }).click();
    await page.getByRole("link", { name: "Projects" }).click();
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByLabel("Name").fill("Ranking");
    await save();
    await page.getByRole("heading", { name: "Ranking", level: 1 }).waitFor();
    await page.getByRole("button", { name: "New experiment" }).click();
    await page.getByLabel("Name").fill("Shorter titles");
    await save();
    await page.getByRole("heading", { name: "Shorter titles", level: 1 }).waitFor();
    const address = new URL(page.url()).pathname;
    await page.getByRole("link", { name: "Ranking" }).click();
    await page.getByRole("table", { name: "Experiments" }).getByRole("link", { name: "Shorter titles" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Name").fill("Ranking and recall");
    await save();
    await page.getByRole("heading", { name: "Ranking and recall", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    const asked = page.getByRole("dialog", { name: "Delete “Ranking and recall”?" });
    await asked.getByText("Its 1 experiment stay").waitFor();
    await asked.getByRole("button", { name: "Delete" }).click();
    await page.getByText("A project groups experiments").waitFor();
    return { errors, address };
  },

  /** A budget is made, raised after a fault, and deleted. */
  async budget(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByRole("link", { name: "Budgets" }).click();
    await page.getByRole("button", { name: "New budget" }).click();
    const form = page.getByRole("dialog", { name: "New budget" });
    await form.getByLabel("Period").selectOption("week");
    await form.getByLabel("Budget in dollars").fill("-1");
    await form.getByLabel("When it is spent").selectOption("stop");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    await form.getByLabel("Budget in dollars").fill("20");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    const row = await page.getByRole("row").nth(1).innerText();
    await page.getByRole("link", { name: "The account" }).click();
    const drawer = page.getByRole("dialog", { name: "The account, a week" });
    await drawer.getByText("No period has ended yet.").waitFor();
    const found = await violations(page);
    await drawer.getByRole("button", { name: "Edit" }).click();
    await drawer.getByLabel("Budget in dollars").fill("30");
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.getByText("$30.00 a week").waitFor();
    await drawer.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete the budget of The account?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("There is no budget yet").waitFor();
    return { errors, found, row };
  },

  /** Experiments are chosen, stand beside each other, and are downloaded. */
  async compare(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Experiments" }).click();
    for (const name of values.names) await page.getByRole("checkbox", { name: `Compare ${name}`, exact: true }).check();
    await page.getByRole("button", { name: `Compare ${values.names.length}` }).click();
    const figures = page.getByRole("table", { name: "conversion" });
    await figures.waitFor();
    const rows = await figures.getByRole("row").allInnerTexts();
    const fields = await page.getByRole("table", { name: "What differs" }).getByRole("rowheader").allInnerTexts();
    const found = await violations(page);
    const file = await downloaded(page, "Download CSV");
    return { errors, found, rows, fields, file, address: new URL(page.url()).search };
  },

  /** Results are added to an experiment from a file, after one that is refused. */
  async results(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    await page.getByRole("button", { name: "Add results" }).click();
    const form = page.getByRole("dialog", { name: "Add results" });
    const send = async (content, encoding) => {
      const file = { name: "results.csv", mimeType: "text/csv", buffer: Buffer.from(content, encoding) };
      await form.getByLabel("File of CSV").setInputFiles(file);
      await form.getByRole("button", { name: "Analyse" }).click();
    };
    for (const [content, told, encoding] of values.refused) {
      await send(content, encoding);
      await form.getByRole("alert").filter({ hasText: told }).waitFor();
    }
    const found = await violations(page);
    await send(values.file);
    await page.getByText("The results are analysed").waitFor();
    const effects = await page.getByRole("table", { name: "Effects" }).innerText();
    const acceptance = page.getByRole("button", { name: "Accept as the outcome: ship" });
    await acceptance.click();
    await acceptance.waitFor({ state: "hidden" });
    return { errors, found, effects };
  },

  /** An endpoint is made, tested, paused, enabled, renamed, given another secret, and deleted. */
  async endpoint(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "New endpoint" }).click();
    const form = page.getByRole("dialog", { name: "New endpoint" });
    await form.getByLabel("URL").fill("ftp://example.org/");
    await form.getByRole("button", { name: "Create endpoint" }).click();
    await form.getByRole("alert").first().waitFor();
    const told = await form.getByRole("alert").count();
    await form.getByLabel("URL").fill(values.address);
    await form.getByLabel("Name").fill("Hook");
    await form.getByLabel("Types of messages").fill("run.* test.ping");
    await form.getByRole("button", { name: "Create endpoint" }).click();
    const secrets = [await form.getByText(/^whsec_/).innerText()];
    await form.getByRole("button", { name: "Close" }).click();
    await page.getByRole("link", { name: "Hook" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("The test was delivered in").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByText("active", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog", { name: "Edit" }).getByLabel("Name").fill("Renamed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Renamed" }).waitFor();
    await page.getByRole("button", { name: "New secret" }).click();
    const rotation = page.getByRole("dialog", { name: "Make a new secret" });
    await rotation.getByRole("button", { name: "New secret" }).click();
    secrets.push(await rotation.getByText(/^whsec_/).innerText());
    await rotation.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("The test was delivered in").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete “Renamed”?" }).getByRole("button", { name: "Delete" }).click();
    await page.getByText("Nothing is sent anywhere yet.").waitFor();
    return { errors: errors.filter((each) => !each.includes("400")), told, secrets, address: new URL(page.url()).pathname };
  },

  /** What was sent is found in the log of its endpoint, read, and sent again. */
  async replay(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/settings/endpoints/${values.endpoint}`);
    await page.getByRole("button", { name: "delivered" }).click();
    await page.getByRole("button", { name: "test.ping" }).click();
    const drawer = page.getByRole("dialog", { name: "test.ping" });
    const body = await drawer.getByRole("region", { name: "Body" }).innerText();
    await drawer.getByRole("button", { name: "Send again" }).click();
    await page.getByText("It will be sent again.").waitFor();
    const attempts = await drawer.getByRole("table", { name: "Attempts" }).getByRole("row").count();
    return { errors, body: JSON.parse(body), attempts };
  },

  /** The buttons of some pages. */
  async buttons(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    const buttons = [];
    for (const path of values.pages) {
      await page.goto(`${values.url}/console/${path}`);
      await page.locator("main h1").waitFor();
      await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"));
      buttons.push(...(await page.locator("main").getByRole("button").allInnerTexts()));
    }
    return { errors, buttons };
  },

  /** The session ends elsewhere: the page asks for a key, comes back to the same address, and shows nothing of the
   * former account, also when another page logs in. No page hears of it from another one, as where that is another browser. */
  async ended(browser, values) {
    const { page, errors } = await open(browser, values);
    await deafen(page.context());
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments?status=running`);
    await page.getByRole("link", { name: values.name }).waitFor();
    const second = await page.context().newPage();
    await second.goto(`${values.url}/console/`);
    await second.getByRole("button", { name: "Log out" }).click();
    await second.getByRole("heading", { name: "Log in" }).waitFor();
    await page.getByRole("button", { name: "draft" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    const address = new URL(page.url()).search;
    await logIn(page, values.other);
    await page.getByRole("button", { name: "running" }).click();
    await page.getByText("No experiment matches").waitFor();
    const shown = await page.getByText(values.name).count();
    await second.getByRole("link", { name: "What this is, and how it works" }).waitFor();
    await second.reload();
    await second.getByRole("button", { name: "Log out" }).click();
    await logIn(second, values.key);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    await page.getByRole("link", { name: values.name }).waitFor();
    return { errors, address, shown };
  },

  /** An operator finds what was given up by a filter, lets one run again, and drops the rest. */
  async operator(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Operator" }).click();
    await page.getByRole("row", { name: /svc-interests/ }).first().waitFor();
    await page.getByText("In the index").waitFor();
    await page.getByText(/API v1\.0/).waitFor();
    await page.getByRole("row", { name: /svc-interests/ }).first().getByRole("link").first().click();
    await page.waitForURL(/service=svc-interests/);
    await page.goBack();
    await page.getByLabel("Part of the error").fill(values.error);
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("button", { name: "Retry", exact: true }).first().click();
    await page.getByRole("button", { name: "Retry 1" }).click();
    await page.getByText("1 task will run again.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Drop all" }).click();
    await page.getByRole("button", { name: `Drop ${values.left}` }).click();
    await page.getByText("Nothing was given up.").waitFor();
    return { errors, address: new URL(page.url()).search };
  },

  /** A template is made and locked, a run of it started and cancelled. */
  async evaluate(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Evaluations" }).click();
    await page.getByRole("button", { name: "Templates" }).click();
    await page.getByRole("button", { name: "New template" }).click();
    const form = page.getByRole("dialog", { name: "New template" });
    await form.getByLabel("Name").fill("From the console");
    const spec = form.getByLabel("What is evaluated, as JSON");
    const written = await spec.inputValue();
    await spec.fill("no JSON");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("This must be a JSON object").first().waitFor();
    await spec.fill(written);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "From the console" }).waitFor();
    await page.getByRole("button", { name: "Lock" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Lock" }).click();
    await page.getByText("locked", { exact: true }).waitFor();
    await page.getByRole("button", { name: "New run" }).click();
    await page.getByLabel("Name (optional)").fill("First");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.getByRole("heading", { name: "First" }).waitFor();
    await page.getByRole("button", { name: "Cancel it" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel it" }).click();
    await page.getByText("cancelled", { exact: true }).waitFor();
    return { errors, address: new URL(page.url()).pathname };
  },

  /** Each page leads to its section of the guide, which needs no session. */
  async guide(browser, values) {
    const { page, errors } = await open(browser, values);
    await page.getByRole("link", { name: "What this is, and how it works" }).click();
    await page.getByRole("heading", { name: "Guide", level: 1 }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "one story", exact: true }).first().click();
    await page.getByRole("heading", { name: "One story", level: 1 }).waitFor();
    const pictures = await page.getByRole("img").evaluateAll(async (all) => {
      for (const each of all) each.loading = "eager";
      await Promise.all(all.map((each) => each.decode()));
      return all.filter((each) => each.naturalWidth > 1000).length;
    });
    const found = await violations(page);
    await page.getByRole("link", { name: "Log in" }).click();
    await logIn(page, values.key);
    const pages = await page.getByRole("navigation", { name: "Pages" }).getByRole("listitem").allInnerTexts();
    const sections = [];
    for (const name of pages) {
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();
      await page.getByRole("link", { name: "What the guide says about this page" }).click();
      await page.getByRole("navigation", { name: "Sections of the guide" }).waitFor();
      sections.push(await page.getByRole("heading", { level: 1 }).innerText());
    }
    await page.getByRole("main").getByRole("link", { name: "scopes" }).first().click();
    await page.getByRole("heading", { name: "Glossary" }).waitFor();
    await page.waitForFunction(() => scrollY > 0);
    const address = new URL(page.url());
    return { errors, found, pictures, pages, sections, address: address.pathname + address.hash };
  },

  /** An operation is found, and tried: first without a key, then with a session. */
  async docs(browser, values) {
    const { page, errors } = await open(browser, values);
    await page.goto(`${values.url}/docs`);
    await page.getByLabel("Filter by name, path or subject").fill("interest_create");
    await page.getByText("1 operation", { exact: true }).waitFor();
    await page.getByRole("link", { name: "/api/v1.0/interests" }).click();
    await page.getByText("Log in to try it here.").waitFor();
    const found = await violations(page);
    await page.getByRole("main").getByRole("link", { name: "Log in" }).click();
    await logIn(page, values.key);
    await page.goBack();
    await page.getByRole("button", { name: "Send POST" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send POST" }).click();
    await page.getByRole("heading", { name: "201" }).waitFor();
    found.push(...(await violations(page)));
    const made = JSON.parse(await page.getByRole("region", { name: "Content of the answer" }).innerText());
    await page.goto(`${values.url}/docs/interest_get`);
    const send = page.getByRole("button", { name: "Send GET" });
    const waits = await send.isDisabled();
    await page.getByLabel("interest_id (required)").fill("none");
    await send.click();
    await page.getByRole("heading", { name: "400" }).waitFor();
    return { errors: errors.filter((each) => !each.includes("400")), found, made, waits };
  },

  /** A new account says on Today what it works on, and its papers appear there. */
  async first(browser, values) {
    const { page, errors } = await open(browser, values);
    await page.route(DIGESTS, async (route) => route.fulfill({ json: await withoutPapers(route) }));
    await logIn(page, values.key);
    await page.getByRole("button", { name: "Retrieval" }).click();
    await page.getByRole("button", { name: "Create interest" }).click();
    await page.getByText("The first recommendations are being computed").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("article").first().waitFor();
    return { errors, address: new URL(page.url()).pathname };
  },

  /** Three papers are liked and one disliked by keyboard, and the model is fitted to them. */
  async refit(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("article").first().waitFor();
    await page.keyboard.press("j");
    for (const [count, key] of ["l", "l", "l", "d"].entries()) {
      await page.keyboard.press(key);
      await page.getByText(/^(Liked|Disliked)$/).nth(count).waitFor();
    }
    await page.getByRole("link", { name: values.interest, exact: true }).click();
    await page.getByRole("button", { name: "Fit the model now" }).click();
    const fitted = await page.getByText(/^It learned from/).innerText();
    await page.reload();
    const quality = await page.getByText(/^It tells what you like/).innerText();
    return { errors, found: await violations(page), fitted, quality };
  },

  /** After ten ratings the page says what the model learned; the eleventh, of an interest that had none, teaches nothing yet. */
  async learn(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("article").first().waitFor();
    const fits = [];
    page.on("request", (request) => request.method() === "POST" && /refit/.test(request.url()) && fits.push(request.url()));
    await page.keyboard.press("j");
    for (const [count, key] of [..."llllllldd", "d"].entries()) {
      await page.keyboard.press(key);
      await page.getByText(/^(Liked|Disliked)$/).nth(count).waitFor();
    }
    const lesson = page.getByRole("region", { name: /^What ten ratings taught/ }).first();
    await lesson.getByText(/^It learned from/).waitFor();
    const found = await violations(page);
    const last = page.locator("section", { has: page.getByRole("heading", { name: values.last, exact: true }) });
    await last.getByRole("article").first().getByRole("button", { name: "Like", exact: true }).click();
    await last.getByText("Liked", { exact: true }).waitFor();
    await page.keyboard.press("w");
    await page.getByRole("dialog", { name: "Why this paper" }).getByText("Words and meaning of the interest").waitFor();
    return { errors, found, lesson: await lesson.innerText(), fits: fits.length };
  },

  /** A failed run, and why it failed. What it reported stays text. */
  async run(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByRole("link", { name: "Run 7" }).click();
    await page.getByRole("heading", { name: "Run 7" }).waitFor();
    const content = page.getByRole("main");
    await content.getByText("Gates").waitFor();
    await content.getByText(values.error).first().waitFor();
    await page.reload();
    await content.getByText(values.error).first().waitFor();
    const found = await violations(page);
    const links = await page.locator("a").evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    return { errors, found, links, wasRun: await page.evaluate(() => "wasRun" in globalThis) };
  },

  /** Pages of another origin: one that shows the console in a frame, and one whose form writes. */
  async attack(browser, values) {
    const { page } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`data:text/html,<iframe src="${values.url}/console/"></iframe>`);
    await page.waitForFunction(() => frames.length === 1);
    const framed = await page.frames()[1].locator("main").count();
    const field = "<input name='{\"name\":\"forged\",\"context\":\"' value='\"}'>";
    const form = `<form method="post" enctype="text/plain" action="${values.url}/api/v1.0/interests">${field}</form>`;
    await page.goto(`data:text/html,${encodeURIComponent(form)}`);
    const [answer] = await Promise.all([page.waitForResponse(/interests/), page.evaluate(() => document.forms[0].submit())]);
    return { framed, status: answer.status() };
  },

  /** A message leads to its paper, and what was chosen in it needs one more press. */
  async message(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/?recommendation=${values.recommendation}&signal=like`);
    await page.getByText("Your message said: liked.").waitFor();
    const focused = await page.evaluate(() => document.activeElement.querySelector("h3")?.textContent);
    await page.getByRole("button", { name: values.title, exact: true }).click();
    await page.getByText("Liked", { exact: true }).waitFor();
    await page.goto(`${values.url}/console/?recommendation=${values.recommendation}&signal=plan`);
    const plan = page.getByRole("dialog", { name: "Plan an experiment" });
    const planned = await plan.getByLabel("Name").inputValue();
    await page.goto(`${values.url}/console/?interest=${values.interest}`);
    await page.getByRole("link", { name: "Show all interests" }).waitFor();
    return { errors, focused, planned };
  },

  /** The result of an experiment: a line of the table with its picture, and what was said before. */
  async result(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    await page.getByText("25 % better").first().waitFor();
    const row = page.getByRole("table", { name: "Effects" }).getByRole("row").nth(1);
    await page.getByText("One earlier analysis").click();
    const earlier = await page.locator("details[open] li").count();
    return { errors, row: await row.textContent(), dots: await row.locator("circle").count(), earlier };
  },

  /** The way of an experiment is walked from its decision back to its paper, which shows what became of it. */
  async way(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    const line = page.getByRole("list", { name: "From the paper to the decision" });
    await line.waitFor();
    const found = await violations(page);
    const stops = await line.locator(":scope > li").allTextContents();
    await line.getByText("papers were passed over").click();
    const passed = await line.locator("details[open] li").allTextContents();
    const wasRun = await page.evaluate(() => "wasRun" in globalThis);
    await page.getByRole("button", { name: "As it was at the decision" }).click();
    await page.getByText("Kept when this was decided").waitFor();
    const files = [await downloaded(page, "Download as Markdown"), await downloaded(page, "Download as PROV")];
    found.push(...(await violations(page)));
    await line.getByRole("link", { name: values.title }).press("Enter");
    await page.getByRole("heading", { name: "What became of it here" }).waitFor();
    await page.getByRole("table", { name: "Experiments" }).getByText("it worked").waitFor();
    found.push(...(await violations(page)));
    return { errors, found, stops, passed, wasRun, files, tables: await page.getByRole("table").count() };
  },

  /** A question about a run is answered. */
  async question(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/agents`);
    await page.getByRole("link", { name: "Run 7", exact: true }).click();
    await page.getByLabel("Question").fill("Why did it fail?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    const asked = page.getByText("Why did it fail?", { exact: true });
    await asked.waitFor();
    return { errors, reply: await asked.locator("xpath=following-sibling::p[1]").textContent() };
  },

  /** What others wrote stays text. */
  async hostile(browser, values) {
    const { page, errors } = await open(browser, values);
    await logIn(page, values.key);
    await page.goto(`${values.url}/console/experiments/${values.experiment}`);
    await page.getByRole("heading", { name: values.name }).waitFor();
    const links = await page.locator("a").evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    return { errors, links, wasRun: await page.evaluate(() => "wasRun" in globalThis) };
  },

  /** Make the app, install it, connect an account, and come back from the code host each time. */
  async connect(browser, values) {
    const { page, errors } = await open(browser, values);
    const found = [];
    const look = async () => found.push(...(await violations(page)));
    const goOn = () => page.getByRole("link", { name: "Go on with Connect" }).click();
    const install = async () => {
      await page.getByRole("button", { name: "Install it on repositories" }).click();
      await page.getByRole("button", { name: `Install on ${values.login}`, exact: true }).click();
    };
    await logIn(page, values.key);
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByRole("button", { name: "Make the app" }).waitFor();
    await look();
    await page.getByRole("button", { name: "Make the app" }).click();
    await page.getByRole("button", { name: "Create GitHub App" }).click();
    await page.getByText("is stored. Install it on a repository next.").waitFor();
    await look();
    await goOn();
    await install();
    await page.getByText("Connect your account at the code host first").waitFor();
    await goOn();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.locator("form", { hasText: values.login }).getByRole("button").click();
    await page.getByText(`Connected to code_host as ${values.login}.`).waitFor();
    await goOn();
    await page.getByText(`Connected as ${values.login}`).waitFor();
    await install();
    await page.getByText(`The app is installed on ${values.login}.`).waitFor();
    await look();
    const address = new URL(page.url());
    return { errors, found, address: address.pathname + address.search };
  },
};

const HELPERS = { open, logIn, violations, violationsOfThemes, downloaded };
for (const journeys of [agents, faults, forms, lists, people]) Object.assign(JOURNEYS, journeys(HELPERS));

const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox"] });
await answerQuestions(async ({ journey, values }) => {
  try {
    return await JOURNEYS[journey](browser, values);
  } finally {
    await Promise.all(browser.contexts().map((each) => each.close()));
  }
});
await browser.close();
