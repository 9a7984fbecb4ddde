import { useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { eventTypes } from "../../api/queries";
import { useEdit, type Edit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import { choiceOf, digestOf, type DigestChoice } from "./digest";
import { DigestFields } from "./DigestFields";

type Endpoint = Schemas["Webhook"];
type Kind = Endpoint["kind"];

const WORDS = text.endpoints;
const KINDS = (["webhook", "slack", "email"] as const).map((kind) => [kind, WORDS.kinds[kind]] as const);

interface Values {
  kind: Kind;
  address: string; // a URL or that of a mail; empty: it stays
  name: string;
  events: string;
  digest: DigestChoice;
}

function initialOf(endpoint: Endpoint | undefined): Values {
  if (!endpoint) return { kind: "webhook", address: "", name: "", events: "*", digest: choiceOf(null) };
  const { kind, name, url, email, events, digest } = endpoint;
  const address = { webhook: url, slack: null, email }[kind]; // Slack's is not shown
  return { kind, address: address ?? "", name, events: events.join(" "), digest: choiceOf(digest) };
}

function bodyOf({ kind, address, name, events, digest }: Values, was: Endpoint | undefined) {
  const isKept = was !== undefined && kind === "slack" && address === "";
  return {
    ...(isKept ? {} : { [kind === "email" ? "email" : "url"]: address }),
    ...(name || was ? { name } : {}), // a new one is named by its host
    events: events.split(/\s+/).filter(Boolean),
    digest: digestOf(digest, was?.digest ?? null),
  };
}

const ADDRESS_WORDS: Readonly<Record<Kind, readonly [string, string]>> = {
  webhook: [WORDS.url, WORDS.urlHint],
  slack: [WORDS.slackUrl, WORDS.slackUrlHint],
  email: [WORDS.email, WORDS.emailHint],
};

/** What each type is about, for who chooses some. */
function EventTypes() {
  const types = useQuery(eventTypes).data ?? [];
  return (
    <details>
      <summary>{WORDS.eventTypes}</summary>
      <dl class="facts">
        {types.map(({ type, description }) => (
          <div key={type}>
            <dt class="wrap">
              <code>{type}</code>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

interface FieldsProps {
  values: Values;
  isNew: boolean;
  onChange: (change: Partial<Values>) => void;
  fault: (field: string) => string | undefined;
}

function Fields({ values, isNew, onChange: set, fault }: FieldsProps) {
  const [label, hint] = ADDRESS_WORDS[values.kind];
  const isKept = !isNew && values.kind === "slack";
  return (
    <>
      {isNew && <SelectField label={WORDS.kind} value={values.kind} values={KINDS} onChange={(kind) => kind && set({ kind })} />}
      <TextField
        label={label}
        hint={isKept ? WORDS.urlKept : hint}
        value={values.address}
        onInput={(address) => set({ address })}
        required={!isKept}
        fault={fault(values.kind === "email" ? "email" : "url")}
      />
      <TextField label={WORDS.name} value={values.name} onInput={(name) => set({ name })} required={!isNew} fault={fault("name")} />
      <TextField
        label={WORDS.events}
        hint={WORDS.eventsHint}
        value={values.events}
        onInput={(events) => set({ events })}
        required
        fault={fault("events")}
      />
      <EventTypes />
      <DigestFields choice={values.digest} onChange={(digest) => set({ digest })} fault={fault} />
    </>
  );
}

/** The answer to a new one has its secret. */
async function save(endpoint: Endpoint | undefined, edit: Edit<Values, ReturnType<typeof bodyOf>>): Promise<Schemas["WebhookWithSecret"]> {
  const { values } = edit;
  if (!endpoint) return answer(api.POST("/api/v1.0/webhooks", { body: { kind: values.kind, ...bodyOf(values, undefined) } }));
  const params = { path: { webhook_id: endpoint.id } };
  return answer(api.PATCH("/api/v1.0/webhooks/{webhook_id}", { params, body: edit.difference() }));
}

interface Props {
  endpoint?: Endpoint; // that is changed; without: a new one
  onSaved: (saved: Schemas["WebhookWithSecret"]) => void;
}

export function EndpointForm({ endpoint, onSaved }: Props) {
  const edit = useEdit(initialOf(endpoint), (values) => bodyOf(values, endpoint));
  const client = useQueryClient();
  const reload = () => client.invalidateQueries({ queryKey: ["endpoints"] });
  const onDone = async (saved: Schemas["WebhookWithSecret"]) => {
    await reload();
    onSaved(saved);
  };
  return (
    <Form
      submit={endpoint ? text.save : WORDS.create}
      send={() => save(endpoint, edit)}
      onDone={onDone}
      edit={endpoint && { ...edit, reload }}
    >
      {(fault) => <Fields values={edit.values} isNew={!endpoint} onChange={edit.set} fault={fault} />}
    </Form>
  );
}
