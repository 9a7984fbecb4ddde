import { useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Folded } from "../../part/fold/Folded";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { May } from "../../part/scope";
import { SelectField } from "../../part/form/Select";
import { Disconnect } from "./Disconnect";
import { Step } from "./Step";
import { connectText } from "./text";

const words = connectText.model;

function KeyForm({ names }: { names: readonly string[] }) {
  const [name, setName] = useState(names[0] ?? null);
  const [key, setKey] = useState("");
  const [url, setUrl] = useState("");
  const client = useQueryClient();
  const send = () =>
    answer(
      api.POST("/api/v1.0/integrations/{provider_name}/connect", {
        params: { path: { provider_name: name ?? "" } },
        body: { api_key: key, ...(name === "custom" ? { base_url: url } : {}) },
      }),
    );
  const onDone = () => {
    setKey("");
    return client.invalidateQueries({ queryKey: ["integrations"] });
  };
  return (
    <Form submit={words.connect} send={send} onDone={onDone} isIncomplete={name === null}>
      {(fault) => (
        <>
          <SelectField label={words.provider} value={name} values={names.map((each) => [each, each] as const)} onChange={setName} />
          <TextField
            label={words.key}
            hint={words.keyHint}
            type="password"
            value={key}
            onInput={setKey}
            required
            fault={fault("api_key")}
          />
          {name === "custom" && <TextField label={words.url} type="url" value={url} onInput={setUrl} required fault={fault("base_url")} />}
        </>
      )}
    </Form>
  );
}

/** The key that the agent calls its model with. */
export function ModelStep({ providers }: { providers: readonly Schemas["Provider"][] }) {
  const models = providers.filter(({ kind }) => kind === "model");
  const connected = models.filter((each) => each.connected).map(({ name }) => name);
  const isThere = connected.length > 0;
  return (
    <Step number={3} title={words.title} tone={isThere ? "done" : "waits"} state={isThere ? words.is(connected.length) : words.none}>
      {isThere && (
        <ul>
          {connected.map((name) => (
            <li key={name} class="actions">
              {name} <Disconnect provider={name} loses={connectText.disconnect.model} />
            </li>
          ))}
        </ul>
      )}
      <May scope="integrations:write">
        <Folded name={words.another} isFolded={isThere}>
          <KeyForm names={models.map(({ name }) => name)} />
        </Folded>
      </May>
    </Step>
  );
}
