import { useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { endpoint as endpointQuery, eventTypes } from "../../api/queries";
import { requireSame, useEdit, type Edit } from "../../part/form/edit";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import { choiceOf, digestOf, type DigestChoice } from "./digest";
import { DigestFields } from "./DigestFields";
import { endpointsText } from "./text";

type Endpoint = Schemas["Webhook"];
type Kind = Endpoint["kind"];

const WORDS = endpointsText;
const KINDS = (["webhook", "slack", "email"] as const).map((kind) => [kind, WORDS.kinds[kind]] as const);

/** Each under its name in the API, as the fields have it. */
interface Values extends DigestChoice {
  kind: Kind;
  url: string; // of Slack's empty: it stays
  email: string;
  name: string;
  events: string;
}

/** By which of these a kind is reached. */
const addressOf = (kind: Kind) => (kind === "email" ? "email" : "url");

const NAMED = { "digest.weekdays": Object.entries(WORDS.digestDays) };

function initialOf(endpoint: Endpoint | undefined): Values {
  if (!endpoint) return { kind: "webhook", url: "", email: "", name: "", events: "*", ...choiceOf(null) };
  const { kind, name, url, email, events, digest } = endpoint;
  const shown = kind === "slack" ? null : url;
  return { kind, url: shown ?? "", email: email ?? "", name, events: events.join(" "), ...choiceOf(digest) };
}

function bodyOf(values: Values, was: Endpoint | undefined) {
  const { kind, name, events } = values;
  const address = addressOf(kind);
  const isKept = was !== undefined && kind === "slack" && values.url === "";
  return {
    ...(isKept ? {} : { [address]: values[address] }),
    ...(name || was ? { name } : {}), // a new one is named by its host
    events: events.split(/\s+/).filter(Boolean),
    digest: digestOf(values, was?.digest ?? null),
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
  const address = addressOf(values.kind);
  return (
    <>
      {isNew && <SelectField label={WORDS.kind} value={values.kind} values={KINDS} onChange={(kind) => kind && set({ kind })} />}
      <TextField
        label={label}
        hint={isKept ? WORDS.urlKept : hint}
        value={values[address]}
        onInput={(value) => set({ [address]: value })}
        required={!isKept}
        fault={fault(address)}
      />
      <TextField
        label={isNew ? WORDS.newName : WORDS.name}
        value={values.name}
        onInput={(name) => set({ name })}
        required={!isNew}
        fault={fault("name")}
      />
      <TextField
        label={WORDS.events}
        hint={WORDS.eventsHint}
        value={values.events}
        onInput={(events) => set({ events })}
        required
        fault={fault("events")}
      />
      <EventTypes />
      <DigestFields choice={values} onChange={set} fault={fault} />
    </>
  );
}

/** What the form can change: its digest is sent as a whole, without the time at which the next one is due. */
const settingsOf = (endpoint: Endpoint) => bodyOf(initialOf(endpoint), endpoint);

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
  const edit = useEdit(initialOf(endpoint), (values) => bodyOf(values, endpoint), NAMED);
  const client = useQueryClient();
  const reload = () => client.invalidateQueries({ queryKey: ["endpoints"] });
  const send = async () => {
    if (endpoint) requireSame(settingsOf(endpoint), settingsOf(await client.query({ ...endpointQuery(endpoint.id), staleTime: 0 })));
    return save(endpoint, edit);
  };
  const onDone = async (saved: Schemas["WebhookWithSecret"]) => {
    await reload();
    onSaved(saved);
  };
  return (
    <Form submit={endpoint ? text.save : WORDS.create} send={send} onDone={onDone} edit={endpoint && { ...edit, reload }}>
      {(fault) => <Fields values={edit.values} isNew={!endpoint} onChange={edit.set} fault={fault} />}
    </Form>
  );
}
