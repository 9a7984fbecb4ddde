import { useMutation } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import { relative } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { Once } from "../../part/form/Once";
import { connectText } from "./text";

const words = connectText.agent;

/** A key for an hour at the command line, which does what the agent of the interest may do. */
export function CliToken({ interest }: { interest: string }) {
  const params = { path: { interest_id: interest } };
  const making = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/interests/{interest_id}/provision-cli-token", { params })),
    gcTime: 0,
  });
  return (
    <>
      <div class="actions">
        <Button disabled={making.isPending} onClick={() => making.mutate()}>
          {words.token}
        </Button>
      </div>
      {making.error && <Fault error={making.error} />}
      {making.data && (
        <Dialog title={words.token} onClose={() => making.reset()}>
          <Once lead={words.tokenMade(making.data.repo, relative(new Date(making.data.expires_at)))} value={making.data.token} />
        </Dialog>
      )}
    </>
  );
}
