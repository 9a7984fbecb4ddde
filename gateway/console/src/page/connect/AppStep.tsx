import { useMutation, useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { useScope } from "../../part/scope";
import { codeHostApp } from "./queries";
import { Step } from "./Step";
import { connectText } from "./text";

const words = connectText.app;

/** Post the manifest to the code host, as its form: the browser leaves this page. */
function post(action: string, manifest: unknown): void {
  const form = document.createElement("form");
  const field = document.createElement("input");
  form.method = "post";
  form.action = action;
  field.type = "hidden";
  field.name = "manifest";
  field.value = JSON.stringify(manifest);
  form.append(field);
  document.body.append(form);
  form.submit();
}

function MakeApp() {
  const [organization, setOrganization] = useState("");
  const [isPublic, setIsPublic] = useState(false);
  const send = () => answer(api.POST("/api/v1.0/github/app/manifest", { body: { organization: organization || null, public: isPublic } }));
  return (
    <Form submit={words.make} send={send} onDone={({ action, manifest }) => post(action, manifest)}>
      {(fault) => (
        <>
          <TextField
            label={words.organization}
            hint={words.organizationHint}
            value={organization}
            onInput={setOrganization}
            fault={fault("organization")}
          />
          <label class="check">
            <input type="checkbox" checked={isPublic} onChange={(event) => setIsPublic(event.currentTarget.checked)} /> {words.isPublic}
          </label>
        </>
      )}
    </Form>
  );
}

function InstallApp() {
  const going = useMutation({
    mutationFn: () => answer(api.GET("/api/v1.0/github/app/install-url")),
    onSuccess: ({ install_url: address }) => {
      if (address) location.assign(address);
    },
  });
  return (
    <>
      <div class="actions">
        <Button disabled={going.isPending} onClick={() => going.mutate()}>
          {words.install}
        </Button>
      </div>
      {going.error && <Fault error={going.error} />}
    </>
  );
}

/** What an app that exists lacks, and how deliveries come. */
function Lacks({ app }: { app: Schemas["CodeHostApp"] }) {
  return (
    <ul>
      {app.permissions_missing.length > 0 && <li>{words.lacksPermissions(app.permissions_missing.join(", "))}</li>}
      {app.events_missing.length > 0 && <li>{words.lacksEvents(app.events_missing.join(", "))}</li>}
      {!app.webhook.active && <li>{words.polling}</li>}
    </ul>
  );
}

/** The landing after it claims the installation. */
function useMayInstall(): boolean {
  const mayRead = useScope("code_host:read");
  const mayClaim = useScope("integrations:write");
  return mayRead && mayClaim;
}

function OperatorStep() {
  const mayInstall = useMayInstall();
  return (
    <Answer query={useQuery(codeHostApp)}>
      {(app) => {
        const isWhole = app.permissions_missing.length === 0 && app.events_missing.length === 0;
        if (!app.configured)
          return (
            <Step number={1} title={words.title} tone="waits" state={words.none}>
              <MakeApp />
            </Step>
          );
        return (
          <Step number={1} title={words.title} tone={isWhole ? "done" : "waits"} state={words.is(app.slug ?? "", app.owner)}>
            <Lacks app={app} />
            {mayInstall && <InstallApp />}
          </Step>
        );
      }}
    </Answer>
  );
}

/** The app at the code host. Only an operator can make it; everybody can install it. */
export function AppStep({ isConfigured }: { isConfigured: boolean }) {
  const isOperator = useScope("service:any_user");
  const mayInstall = useMayInstall();
  if (isOperator) return <OperatorStep />;
  return (
    <Step number={1} title={words.title} tone={isConfigured ? "done" : "waits"} state={isConfigured ? words.there : words.askOperator}>
      {isConfigured && mayInstall && <InstallApp />}
    </Step>
  );
}
