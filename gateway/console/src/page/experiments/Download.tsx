import { useMutation } from "@tanstack/preact-query";

import { csv } from "../../api/client";
import { text } from "../../text";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";

interface Props {
  path: string; // of the API, of something that is also sent as CSV
  name: string; // of the file
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A list as a file. A link would not do: it cannot say which form of the list is wanted. */
export function Download({ path, name }: Props) {
  const fetching = useMutation({ mutationFn: () => csv(path), onSuccess: (content) => save(content, name) });
  return (
    <>
      <Button onClick={() => fetching.mutate()} disabled={fetching.isPending}>
        {text.download}
      </Button>
      {fetching.error && <Fault error={fetching.error} />}
    </>
  );
}
