import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { session } from "../../api/session";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { Dialog } from "../../part/Dialog";
import { Page } from "../../part/Page";
import { text } from "../../text";
import { Provider } from "./Provider";

function KeyForm() {
  const [key, setKey] = useState("");
  const client = useQueryClient();
  const onDone = (data: Schemas["Session"]) => {
    setKey("");
    client.setQueryData(session.queryKey, data);
  };
  return (
    <Form submit={text.login.submit} send={() => answer(api.POST("/api/v1.0/session", { body: { key: key.trim() } }))} onDone={onDone}>
      {(fault) => (
        <TextField
          label={text.login.key}
          type="password"
          autocomplete="current-password"
          value={key}
          onInput={setKey}
          required
          fault={fault("key")}
        />
      )}
    </Form>
  );
}

/** Log in at the provider or with a key. The address stays, so that the page that was wanted follows. */
export function Login() {
  return (
    <main class="login">
      <Page title={text.login.title}>
        <Provider />
        <p class="read">{text.login.lead}</p>
        <KeyForm />
        <p class="small quiet">{text.login.hint}</p>
        <pre class="command">{text.login.command}</pre>
        <p>
          <Link href="~/docs/guide">{text.login.guide}</Link>
        </p>
      </Page>
    </main>
  );
}

/** The same above a page whose session has ended. It covers the page, which is not for whoever sits there now. */
export function LoginAgain() {
  const client = useQueryClient();
  return (
    <div class="covering">
      <Dialog title={text.login.again} leave={text.login.leave} onClose={() => client.setQueryData(session.queryKey, null)}>
        <div class="dialog-text">
          <p class="read">{text.login.ended}</p>
          <Provider isAside />
        </div>
        <KeyForm />
      </Dialog>
    </div>
  );
}
