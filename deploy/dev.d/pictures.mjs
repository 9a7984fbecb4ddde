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
const EXPERIMENT = "Scores relative to the length of a passage"; // which the demo decides at its end

async function logIn(page) {
  await page.getByLabel("Key", { exact: true }).fill(process.env.EXPOPS_DEMO_KEY);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("article").first().waitFor();
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
    await page.getByRole("link", { name: "Experiments" }).click();
    await page.getByRole("link", { name: EXPERIMENT }).first().click();
    await page.getByRole("list", { name: "From the paper to the decision" }).getByRole("listitem").last().waitFor();
  },
  agents: async (page) => {
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByText("From papers to merged work").waitFor();
  },
};

/** Those that show all of the page, and not only what fits into the window. */
const WHOLE = ["experiment"];

const folder = process.argv[2];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await (await browser.newContext(WINDOW)).newPage();
  await page.goto(`${process.env.EXPOPS_URL}/console/`);
  await logIn(page);
  for (const [name, show] of Object.entries(PICTURES)) {
    await show(page);
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", fullPage: WHOLE.includes(name) });
  }
} finally {
  await browser.close();
}
const files = Object.keys(PICTURES).map((name) => join(folder, `${name}.png`));
process.exit(spawnSync("pngquant", [...OPTIMISE, ...files], { stdio: "inherit" }).status);
