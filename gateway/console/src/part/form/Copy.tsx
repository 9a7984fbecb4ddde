import { useState } from "preact/hooks";

import { text } from "../../text";
import { Button } from "./Button";
import { copy } from "./clipboard";

/** A button that copies a text, and says whether it did. */
export function Copy({ value }: { value: string }) {
  const [isDone, setIsDone] = useState<boolean | null>(null);
  return (
    <>
      <Button kind="quiet" onClick={() => void copy(value).then(setIsDone)}>
        {text.copy}
      </Button>
      <span role="status" class="small quiet">
        {isDone !== null && (isDone ? text.copied : text.notCopied)}
      </span>
    </>
  );
}
