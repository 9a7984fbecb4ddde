import { useKeys } from "./keyboard";

/** Of a row the first control, which Enter opens. */
const focusable = (row: HTMLElement) => row.querySelector<HTMLElement>("a[href], button, summary, input") ?? row;

function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((row) => row.checkVisibility());
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
  if (next) focusable(next).focus();
}

/** j and k move the focus through the rows of all lists of the page, which bear `data-row`. */
export function useRowKeys(): void {
  useKeys({ j: () => move(1), k: () => move(-1) });
}
