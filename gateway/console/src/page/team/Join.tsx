import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { answer, api } from "../../api/client";
import { accounts } from "../../api/team";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { Page } from "../../part/Page";
import { text } from "../../text";
import { useSwitch } from "./switch";
import { teamText } from "./text";

/** The token of an invitation, which follows # in the address and is removed from there: it works once. */
function useToken(): string {
  const [token] = useState(() => location.hash.slice(1));
  useEffect(() => history.replaceState(history.state, "", location.pathname), []);
  return token;
}

/** Accepts an invitation and shows the account. */
export default function Join() {
  const token = useToken();
  const client = useQueryClient();
  const switching = useSwitch();
  const accepting = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/team/invitations/accept", { body: { token } })),
    onSuccess: async (account) => {
      await client.invalidateQueries({ queryKey: accounts.queryKey });
      switching.mutate(account.id);
    },
  });
  const error = accepting.error ?? switching.error;
  return (
    <Page title={teamText.join}>
      <p class="read">{teamText.joinText}</p>
      {error && <Fault error={error} />}
      <p class="actions">
        <Button kind="main" disabled={token === "" || accepting.isPending || accepting.isSuccess} onClick={() => accepting.mutate()}>
          {teamText.accept}
        </Button>
        <Link href="/">{text.notFound.back}</Link>
      </p>
    </Page>
  );
}
