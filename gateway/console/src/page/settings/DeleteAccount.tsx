import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { session } from "../../api/queries";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/Field";
import { text } from "../../text";

/** Deletes everything; the account's address must be typed. */
export function DeleteAccount() {
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const email = useQuery(session).data?.account.email ?? "";
  const deletion = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/account/delete", { body: { confirm: true } })),
    onSuccess: () => client.setQueryData(session.queryKey, null),
  });
  return (
    <section class="group narrow">
      <h2>{text.settings.account}</h2>
      <p class="read">{text.settings.accountText}</p>
      <TextField label={text.settings.accountConfirm(email)} value={typed} onInput={setTyped} />
      {deletion.error && <Fault error={deletion.error} />}
      <Button kind="danger" disabled={typed !== email || email === "" || deletion.isPending} onClick={() => deletion.mutate()}>
        {text.settings.accountDelete}
      </Button>
    </section>
  );
}
