import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useScope } from "../../part/scope";
import { evaluationsText } from "./text";

/** The button that ends a build or a run, after a question. */
export function Cancel({ send }: { send: () => Promise<unknown> }) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const words = evaluationsText.cancelling;
  if (!useScope("eval:write")) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>{words.action}</Button>
      {isAsking && (
        <Confirm
          title={words.title}
          action={words.action}
          send={send}
          onDone={() => client.invalidateQueries({ queryKey: ["evaluations"] })}
          onClose={() => setAsking(false)}
        >
          <p>{words.text}</p>
        </Confirm>
      )}
    </>
  );
}
