import { useMutation, useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { raw } from "../../api/client";
import { session } from "../../api/session";
import { Button } from "../../part/form/Button";
import { Copy } from "../../part/form/Copy";
import { Confirm } from "../../part/form/Confirm";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { Output } from "../../part/Output";
import { text } from "../../text";
import { commandOf, firstAttempt, missingOf, requestOf, targetOf, type Attempt } from "./attempt";
import type { Operation } from "./description";
import { docsText } from "./text";

const words = docsText;

/** Fields of the answer that say something about it. */
const FIELDS = ["X-Request-Id", "X-Total-Count", "Link", "ETag", "Location", "Retry-After", "X-Ignored-Fields"];
const BODY_ROWS = 12;

interface Answered {
  status: string;
  fields: string;
  content: string;
}

function readable(content: string): string {
  try {
    return JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    return content;
  }
}

async function send(operation: Operation, attempt: Attempt): Promise<Answered> {
  const response = await raw(requestOf(operation, attempt));
  return {
    status: `${response.status} ${response.statusText}`.trim(),
    fields: FIELDS.flatMap((name) => (response.headers.has(name) ? [`${name}: ${response.headers.get(name) ?? ""}`] : [])).join("\n"),
    content: readable(await response.text()),
  };
}

function Shown({ answered }: { answered: Answered }) {
  return (
    <div aria-live="polite" class="group">
      <h3>{answered.status}</h3>
      {answered.fields && <Output label={words.fields}>{answered.fields}</Output>}
      {answered.content && <Output label={words.content}>{answered.content}</Output>}
    </div>
  );
}

function Command({ operation, attempt }: { operation: Operation; attempt: Attempt }) {
  const command = commandOf(operation, attempt);
  return (
    <details>
      <summary>{words.command}</summary>
      <Output label={words.command}>{command}</Output>
      <Copy value={command} />
    </details>
  );
}

interface FieldsProps {
  operation: Operation;
  attempt: Attempt;
  onChange: (attempt: Attempt) => void;
}

function Fields({ operation, attempt, onChange }: FieldsProps) {
  return (
    <>
      {operation.parameters.map(({ name, required }) => (
        <TextField
          key={name}
          label={required ? `${name} (${words.required})` : name}
          value={attempt.values[name] ?? ""}
          onInput={(value) => onChange({ ...attempt, values: { ...attempt.values, [name]: value } })}
        />
      ))}
      {operation.body && (
        <TextField label={words.body} rows={BODY_ROWS} value={attempt.body} onInput={(body) => onChange({ ...attempt, body })} />
      )}
    </>
  );
}

/** What changes something asks first. */
function Sender({ operation, attempt }: { operation: Operation; attempt: Attempt }) {
  const [asks, setAsks] = useState(false);
  const sending = useMutation({ mutationFn: () => send(operation, attempt) });
  const target = `${operation.method} ${targetOf(operation, attempt)}`;
  const missing = missingOf(operation, attempt);
  return (
    <>
      <div class="actions">
        <Button
          kind="main"
          disabled={sending.isPending || missing.length > 0}
          onClick={() => (operation.method === "GET" ? sending.mutate() : setAsks(true))}
        >
          {words.send(operation.method)}
        </Button>
        {missing.length > 0 && <span class="quiet">{words.missing(missing.join(", "))}</span>}
      </div>
      {asks && (
        <Confirm
          title={words.askTitle}
          action={words.send(operation.method)}
          send={() => sending.mutateAsync()}
          onClose={() => setAsks(false)}
        >
          <p>{words.ask}</p>
          <p class="wrap">
            <code>{target}</code>
          </p>
        </Confirm>
      )}
      {sending.error && <Fault error={sending.error} />}
      {sending.data && <Shown answered={sending.data} />}
    </>
  );
}

/** Scopes of agents and workers: a session has none of them. */
const OF_PROGRAMS = ["fleet:report", "eval:report"];

export function Try({ operation }: { operation: Operation }) {
  const [attempt, setAttempt] = useState(() => firstAttempt(operation));
  const who = useQuery(session).data;
  const isOfPrograms = operation.scope !== undefined && OF_PROGRAMS.includes(operation.scope);
  const lacksSession = operation.scope !== undefined && (!who || who.hasEnded === true);
  return (
    <section class="group form">
      <h2>{words.attempt}</h2>
      <Fields operation={operation} attempt={attempt} onChange={setAttempt} />
      {isOfPrograms && <p class="quiet">{words.ofPrograms}</p>}
      {!isOfPrograms && lacksSession && (
        <p class="quiet">
          {words.noSession} <Link href="/">{text.login.submit}</Link>
        </p>
      )}
      {!isOfPrograms && !lacksSession && <Sender operation={operation} attempt={attempt} />}
      <Command operation={operation} attempt={attempt} />
    </section>
  );
}
