/** Light or dark: the system's choice, or one that the browser keeps. */
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NAME = "expops.theme";

export function theme(): Theme {
  const kept = localStorage.getItem(NAME);
  return THEMES.find((each) => each === kept) ?? "auto";
}

export function setTheme(value: Theme): void {
  localStorage.setItem(NAME, value);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme();
}
