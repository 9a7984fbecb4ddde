import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { count } from "../../api/format";
import { text } from "../../text";
import { Button } from "../form/Button";

interface Props<Row> {
  rows: readonly Row[];
  shown: number; // of them at first
  children: (rows: readonly Row[]) => ComponentChildren;
}

/** The first of a list whose first rows say the most, and the others when they are wanted. */
export function Few<Row>({ rows, shown, children }: Props<Row>) {
  const [isWhole, setIsWhole] = useState(false);
  const left = rows.length - shown;
  return (
    <>
      {children(isWhole ? rows : rows.slice(0, shown))}
      {left > 0 && (
        <div class="actions">
          <Button kind="quiet" expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? text.fewer : text.more(count(left))}
          </Button>
        </div>
      )}
    </>
  );
}
