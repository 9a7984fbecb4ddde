/**
 * Takes the pictures of the README and of the guide, NAME.png in FOLDER, from what `deploy/dev demo` has left.
 *
 * usage: node pictures.mjs FOLDER   EXPOPS_URL is the gateway, EXPOPS_DEMO_KEY the key of the demo's account
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const { chromium } = createRequire(new URL("../../tests/package.json", import.meta.url))("playwright-core");

const WINDOW = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.3, colorScheme: "light" };
const OPTIMISE = ["--force", "--ext", ".png", "--quality", "85-100", "--speed", "1", "--strip"];
const DECISION = "Recall of the evidence is up and the costs are as before: it stays on for all questions.";

async function logIn(page) {
  await page.getByLabel("Key", { exact: true }).fill(process.env.EXPOPS_DEMO_KEY);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("article").first().waitFor();
}

/** An experiment of the first paper that can be planned, changed twice: it runs, and is shipped. */
async function decideExperiment(page) {
  await page.getByRole("button", { name: "Plan an experiment" }).first().click();
  const plan = page.getByRole("dialog");
  await plan.getByLabel("Name").fill("Spend more evidence on hard questions");
  await plan.getByLabel("Hypothesis").fill("A budget that grows with the difficulty finds the evidence of 5 % more questions at the same cost.");
  await plan.getByRole("button", { name: "Create experiment" }).click();
  await plan.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Experiments" }).click();
  await page.getByRole("link", { name: "Spend more evidence on hard questions" }).first().click();
  await change(page, async (form) => {
    await form.getByLabel("Status").selectOption("running");
    await form.getByLabel("Metric").fill("recall@3");
  });
  await change(page, async (form) => {
    await form.getByLabel("Status").selectOption("shipped");
    await form.getByLabel("Outcome").selectOption("ship");
    await form.getByLabel("Decision").fill(DECISION);
  });
}

async function change(page, fill) {
  await page.getByRole("button", { name: "Edit" }).click();
  const form = page.getByRole("dialog");
  await fill(form);
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
}

/** By name: how the page gets into what its picture shows. */
const PICTURES = {
  today: async () => {},
  why: async (page) => {
    await page.getByRole("button", { name: "Why" }).first().click();
    await page.getByRole("dialog").getByText("Nearest to papers that you rated").waitFor();
  },
  experiment: async (page) => {
    await page.keyboard.press("Escape");
    await decideExperiment(page);
    await page.getByText("changed decision").waitFor();
    await page.getByText("The experiment was created.").waitFor({ state: "detached" });
  },
  agents: async (page) => {
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByText("From papers to merged work").waitFor();
  },
};

const folder = process.argv[2];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await (await browser.newContext(WINDOW)).newPage();
  await page.goto(`${process.env.EXPOPS_URL}/console/`);
  await logIn(page);
  for (const [name, show] of Object.entries(PICTURES)) {
    await show(page);
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
  }
} finally {
  await browser.close();
}
const files = Object.keys(PICTURES).map((name) => join(folder, `${name}.png`));
process.exit(spawnSync("pngquant", [...OPTIMISE, ...files], { stdio: "inherit" }).status);
