/** Which section of the guide is about a page. */
import { names } from "console:sections";

/** Pages that are in the section of another. */
const ELSEWHERE: Readonly<Record<string, string>> = { "": "today", runs: "agents", compare: "experiments", join: "settings" };

/** The section that a page at `location`, which is relative to the console's, belongs to: `agents`. */
export function sectionOf(location: string): string {
  const first = location.split("/")[1] ?? "";
  return ELSEWHERE[first] ?? first;
}

/** The address of the section about the page at `location`, which is relative to the console's; null: there is none. */
export function guideOf(location: string): string | null {
  const page = sectionOf(location);
  return !location.startsWith("~") && names.includes(page) ? `~/docs/guide/${page}` : null;
}
