import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useLocation } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { counted } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Dialog } from "../../part/Dialog";
import { Fault } from "../../part/Fault";
import { Once } from "../../part/form/Once";
import { text } from "../../text";
import { EndpointForm } from "./EndpointForm";
import { endpointsText } from "./text";

type Endpoint = Schemas["Webhook"];

export type Open = "edit" | "rotate" | "remove" | null;

const WORDS = endpointsText;

interface Props {
  endpoint: Endpoint;
  onClose: () => void;
}

function Edit({ endpoint, onClose }: Props) {
  return (
    <Dialog title={WORDS.edit} onClose={onClose}>
      <EndpointForm endpoint={endpoint} onSaved={onClose} />
    </Dialog>
  );
}

/** Asks, makes another secret, and shows it. */
function Rotate({ endpoint, onClose }: Props) {
  const client = useQueryClient();
  const hasOld = endpoint.old_secret_expires_at !== null;
  const params = { path: { webhook_id: endpoint.id } };
  const rotating = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/webhooks/{webhook_id}/rotate-secret", { params, body: { force: hasOld } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["endpoints"] }),
  });
  return (
    <Dialog title={WORDS.rotateTitle(endpoint.name)} onClose={onClose}>
      {rotating.data ? (
        <Once lead={WORDS.secret} value={rotating.data.secret} />
      ) : (
        <div class="dialog-text">
          <p>{WORDS.rotateText}</p>
          {hasOld && <p>{WORDS.rotateAgainText}</p>}
          {rotating.error && <Fault error={rotating.error} />}
          <div class="actions">
            <Button kind="danger" disabled={rotating.isPending} onClick={() => rotating.mutate()}>
              {WORDS.rotate}
            </Button>
            <Button onClick={onClose}>{text.cancel}</Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function Remove({ endpoint, onClose }: Props) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const params = { path: { webhook_id: endpoint.id } };
  const onDone = () => {
    navigate("/settings");
    client.removeQueries({ queryKey: ["endpoints", endpoint.id] });
    return client.invalidateQueries({ queryKey: ["endpoints"] });
  };
  return (
    <Confirm
      title={WORDS.removeTitle(endpoint.name)}
      action={WORDS.remove}
      send={() => answer(api.DELETE("/api/v1.0/webhooks/{webhook_id}", { params }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{WORDS.removeText(counted(endpoint.waiting, "message"))}</p>
    </Confirm>
  );
}

const DIALOGS = { edit: Edit, rotate: Rotate, remove: Remove };

/** The dialog that is open. */
export function Dialogs({ endpoint, open, onClose }: Props & { open: Open }) {
  if (open === null) return null;
  const Shown = DIALOGS[open];
  return <Shown endpoint={endpoint} onClose={onClose} />;
}
