/** JSON objects that people write. */
import { Problem } from "../../api/problem";
import { evaluationsText } from "./text";

/** The object that `written` is; throws the problem of the field `field` when it is none. Empty: an empty one. */
export function objectOf(written: string, field: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(written.trim() || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // told below
  }
  throw new Problem(400, evaluationsText.noObject, "", null, [{ field, message: evaluationsText.noObject }]);
}
