import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api } from "../../api/client";
import { session } from "../../api/queries";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/Field";
import { Page } from "../../part/Page";
import { text } from "../../text";

/** Log in with a key. The address stays, so that the page that was wanted follows. */
export function Login() {
  const [key, setKey] = useState("");
  const client = useQueryClient();
  const login = useMutation({
    mutationFn: () => answer(api.POST("/api/v1.0/session", { body: { key: key.trim() } })),
    onSuccess: (data) => {
      setKey("");
      client.setQueryData(session.queryKey, data);
    },
  });
  const submit = (event: Event) => {
    event.preventDefault();
    login.mutate();
  };
  return (
    <main class="login">
      <Page title={text.login.title}>
        <p class="read">{text.login.lead}</p>
        <form onSubmit={submit}>
          <TextField label={text.login.key} type="password" autocomplete="current-password" value={key} onInput={setKey} required />
          {login.error && <Fault error={login.error} />}
          <Button kind="main" type="submit" disabled={login.isPending || key.trim() === ""}>
            {text.login.submit}
          </Button>
        </form>
        <p class="small quiet">{text.login.hint}</p>
        <pre class="command">{text.login.command}</pre>
      </Page>
    </main>
  );
}
