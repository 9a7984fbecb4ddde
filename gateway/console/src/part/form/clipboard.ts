/** Copy a text; whether it was copied. Browsers have no clipboard on pages that came by plain http from another host: there a field is
 * selected for the old command, which they keep. It must stand in the open dialog, if there is one: nothing else can have the focus. */
export async function copy(value: string): Promise<boolean> {
  if ("clipboard" in navigator) {
    try {
      await navigator.clipboard.writeText(value);
      return true;
    } catch {
      // not permitted
    }
  }
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = value;
  field.className = "sr-only";
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way without a secure context
  const isDone = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
