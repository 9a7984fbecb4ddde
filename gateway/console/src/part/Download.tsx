import { useMutation } from "@tanstack/preact-query";

import { file } from "../api/client";
import { text } from "../text";
import { Button } from "./form/Button";
import { Fault } from "./Fault";

interface Props {
  path: string; // of the API, of something that is sent in this form
  name: string; // of the file
  type?: string; // its media type
  label?: string;
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Something as a file. A link would not do: it cannot say which form is wanted, nor show why there is none. */
export function Download({ path, name, type = "text/csv", label = text.download }: Props) {
  const fetching = useMutation({ mutationFn: () => file(path, type), onSuccess: (content) => save(content, name) });
  return (
    <>
      <Button onClick={() => fetching.mutate()} disabled={fetching.isPending}>
        {label}
      </Button>
      {fetching.error && <Fault error={fetching.error} />}
    </>
  );
}
