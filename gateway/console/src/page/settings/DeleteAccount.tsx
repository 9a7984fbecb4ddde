import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { session, showLoggedOut } from "../../api/session";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { useScope } from "../../part/scope";
import { settingsText } from "./text";

/** Deletes everything, for an owner; the account's name must be typed. */
export function DeleteAccount() {
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const mayDelete = useScope("account:write");
  const who = useQuery(session).data;
  const name = who?.account.name ?? "";
  const deletion = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/account/delete", { body: { confirm: true, name } })),
    onSuccess: () => showLoggedOut(client),
  });
  if (who?.role !== "owner" || !mayDelete) return null;
  return (
    <section class="group narrow">
      <h2>{settingsText.account}</h2>
      <p class="read">{settingsText.accountText}</p>
      <TextField label={settingsText.accountConfirm(name)} value={typed} onInput={setTyped} />
      {deletion.error && <Fault error={deletion.error} />}
      <Button kind="danger" disabled={typed !== name || name === "" || deletion.isPending} onClick={() => deletion.mutate()}>
        {settingsText.accountDelete}
      </Button>
    </section>
  );
}
