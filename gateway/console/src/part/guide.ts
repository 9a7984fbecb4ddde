/** Which section of the guide is about a page. */
import { names } from "console:sections";

/** The address of the section about the page at `location`, which is relative to the console's; null: there is none. */
export function guideOf(location: string): string | null {
  const page = location.split("/")[1] || "today";
  return !location.startsWith("~") && names.includes(page) ? `~/docs/guide/${page}` : null;
}
