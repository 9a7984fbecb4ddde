import { absolute, relative } from "../api/format";
import { text } from "../text";

/** A time as people say it; the exact one when pointed at, and for screen readers. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <Unknown />;
  const time = new Date(at);
  return (
    <time dateTime={at} title={absolute(time)}>
      {relative(time)}
      <span class="sr-only"> ({absolute(time)})</span>
    </time>
  );
}

export function Unknown() {
  return (
    <span class="quiet unknown" title={text.unknown}>
      –<span class="sr-only">{text.unknown}</span>
    </span>
  );
}
