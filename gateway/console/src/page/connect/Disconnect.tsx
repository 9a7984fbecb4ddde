import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useScope } from "../../part/scope";
import { connectText } from "./text";

const words = connectText.disconnect;

interface Props {
  provider: string;
  loses: string; // what does not work any more then
}

/** Removes a connection, after asking. */
export function Disconnect({ provider, loses }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  const client = useQueryClient();
  const path = { params: { path: { provider_name: provider } } };
  if (!useScope("integrations:write")) return null;
  return (
    <>
      <Button kind="quiet" label={words.of(provider)} onClick={() => setIsAsking(true)}>
        {words.action}
      </Button>
      {isAsking && (
        <Confirm
          title={words.title(provider)}
          action={words.action}
          send={() => answer(api.DELETE("/api/v1.0/integrations/{provider_name}", path))}
          onDone={() => client.invalidateQueries({ queryKey: ["integrations"] })}
          onClose={() => setIsAsking(false)}
        >
          <p>{words.text}</p>
          <p>{loses}</p>
        </Confirm>
      )}
    </>
  );
}
