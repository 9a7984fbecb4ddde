/** How a page looks, in figures. */

/** How many filled buttons there are, of which a view has one at most: in the dialog, if one is open. */
export const filledButtons = (page) =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.backgroundColor = "var(--ink-accent)";
    const color = getComputedStyle(probe).backgroundColor;
    probe.remove();
    const view = document.querySelector("dialog[open]") ?? document;
    const isFilled = (each) => each.checkVisibility() && getComputedStyle(each).backgroundColor === color;
    return [...view.querySelectorAll("button, a")].filter(isFilled).length;
  });

const BAR_MAX = 64; // pixels of the bar above a page in a narrow window

export async function isBarStretched(page) {
  await page.getByRole("button", { name: "Menu" }).waitFor();
  return page.getByRole("navigation", { name: "Pages" }).evaluate((bar, max) => bar.offsetHeight > max, BAR_MAX);
}

export const isWiderThanWindow = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
