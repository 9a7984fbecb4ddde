/** Numbers that people write. */
import { Problem } from "../../api/problem";
import { text } from "../../text";

/** The number that `written` is; throws the problem of the field `field` when it is none. JSON has no word for such a value but null,
 * which is what says that nothing was given. */
export function numberOf(written: string, field: string): number {
  const value = Number(written);
  if (written.trim() !== "" && Number.isFinite(value)) return value;
  throw new Problem(400, text.noNumber.title, "", null, [{ field, message: text.noNumber.field }]);
}
