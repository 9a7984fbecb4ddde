/** What can be done with an agent that is not revoked. */
import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { useScope } from "../../part/scope";
import { Start } from "./Start";
import { agentsText } from "./text";
import type { Installation } from "./words";

function Revoke({ installation, onClose }: { installation: Installation; onClose: () => void }) {
  const client = useQueryClient();
  const path = { params: { path: { installation_id: installation.id } } };
  return (
    <Confirm
      title={agentsText.revokeTitle(installation.repo)}
      action={agentsText.revoke}
      send={() => answer(api.POST("/api/v1.0/fleet/installations/{installation_id}/revoke", path))}
      onDone={() => client.invalidateQueries({ queryKey: ["fleet"] })}
      onClose={onClose}
    >
      <p>{agentsText.revokeText}</p>
    </Confirm>
  );
}

export function Actions({ installation }: { installation: Installation }) {
  const [open, setOpen] = useState<"start" | "revoke" | null>(null);
  const mayStart = useScope("fleet:trigger");
  const mayRevoke = useScope("fleet:write");
  const close = () => setOpen(null);
  return (
    <span class="actions">
      {mayStart && <Button onClick={() => setOpen("start")}>{agentsText.start}</Button>}
      {mayRevoke && (
        <Button kind="quiet" onClick={() => setOpen("revoke")}>
          {agentsText.revoke}
        </Button>
      )}
      {open === "start" && <Start installation={installation} onClose={close} />}
      {open === "revoke" && <Revoke installation={installation} onClose={close} />}
    </span>
  );
}
