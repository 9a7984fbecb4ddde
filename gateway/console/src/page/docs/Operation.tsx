/** One operation: what it needs, what it answers, and trying it. */
import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { Detail } from "../../part/Detail";
import { Empty } from "../../part/Empty";
import { Output } from "../../part/Output";
import { Page } from "../../part/Page";
import { Table, type Column } from "../../part/Table";
import { text } from "../../text";
import { Method } from "./Method";
import { Prose } from "./Prose";
import { docsText } from "./text";
import { Try } from "./Try";
import {
  exampleOf,
  kindOf,
  membersOf,
  operationsOf,
  type Description,
  type Media,
  type Member,
  type Operation as Described,
  type Parameter,
  type Response,
  type Schema,
} from "./description";
import { description as question } from "./query";

const words = docsText;
const COLUMNS = words.columns;

function Name({ name, required }: { name: string; required: boolean }) {
  return (
    <>
      <code>{name}</code>
      {required && <span class="small warm"> {words.required}</span>}
    </>
  );
}

function Parameters({ document, parameters }: { document: Description; parameters: readonly Parameter[] }) {
  const columns: readonly Column<Parameter>[] = [
    { name: COLUMNS.name, cell: (row) => <Name name={row.name} required={row.required ?? false} /> },
    { name: COLUMNS.place, cell: (row) => row.in },
    { name: COLUMNS.kind, cell: (row) => kindOf(document, row.schema) },
    { name: COLUMNS.meaning, cell: (row) => <Prose>{row.description}</Prose> },
  ];
  if (parameters.length === 0) return null;
  return (
    <section class="group">
      <h2>{words.parameters}</h2>
      <Table label={words.parameters} columns={columns} rows={parameters} rowKey={(row) => `${row.in} ${row.name}`} />
    </section>
  );
}

const MEMBER_COLUMNS: readonly Column<Member>[] = [
  { name: COLUMNS.name, cell: (row) => <Name name={row.name} required={row.required} /> },
  { name: COLUMNS.kind, cell: (row) => row.kind },
  { name: COLUMNS.meaning, cell: (row) => <Prose>{row.description}</Prose> },
];

function Members({ label, document, schema }: { label: string; document: Description; schema: Schema | undefined }) {
  const members = schema ? membersOf(document, schema) : [];
  if (members.length === 0) return null;
  return <Table label={label} columns={MEMBER_COLUMNS} rows={members} rowKey={(row) => row.name} />;
}

function Body({ document, body }: { document: Description; body: Media }) {
  return (
    <section class="group">
      <h2>{words.body}</h2>
      <Members label={words.body} document={document} schema={body.schema} />
    </section>
  );
}

function exampleText(media: Media): string {
  const example = exampleOf(media);
  return typeof example === "string" ? example : JSON.stringify(example, null, 2);
}

function Content({ document, label, type, media }: { document: Description; label: string; type: string; media: Media }) {
  return (
    <>
      <p class="small quiet">{type}</p>
      {exampleOf(media) !== undefined && <Output label={`${label}, ${type}`}>{exampleText(media)}</Output>}
      <details>
        <summary>{words.members}</summary>
        <Members label={`${label}, ${words.members}`} document={document} schema={media.schema} />
      </details>
    </>
  );
}

interface AnswerProps {
  document: Description;
  status: string;
  response: Response;
}

/** The first sentence, in a line of plain text. */
function gist(description: string): string {
  return (
    description
      .replaceAll(/\s+/g, " ")
      .replaceAll("`", "")
      .split(/(?<=\.) /)[0] ?? ""
  );
}

function Answered({ document, status, response }: AnswerProps) {
  const label = `${words.answer} ${status}`;
  return (
    <details open={status.startsWith("2")}>
      <summary>
        <strong>{status}</strong> {gist(response.description)}
      </summary>
      <Prose>{response.description}</Prose>
      {Object.entries(response.content ?? {}).map(([type, media]) => (
        <Content key={type} document={document} label={label} type={type} media={media} />
      ))}
    </details>
  );
}

function Described({ document, operation }: { document: Description; operation: Described }) {
  return (
    <Page title={operation.summary}>
      <p class="wrap">
        <Method name={operation.method} /> <code>{operation.path}</code>
      </p>
      <p class="small quiet">
        {operation.id} · {operation.scope ? words.needsScope(operation.scope) : words.needsNoKey} · <Link href="~/docs">{words.all}</Link>
      </p>
      <Prose>{operation.description}</Prose>
      <Parameters document={document} parameters={operation.parameters} />
      {operation.body && <Body document={document} body={operation.body} />}
      <Try operation={operation} />
      <section class="group">
        <h2>{words.answers}</h2>
        {operation.responses.map(([status, response]) => (
          <Answered key={status} document={document} status={status} response={response} />
        ))}
      </section>
    </Page>
  );
}

export default function Operation({ id }: { id: string }) {
  return (
    <Detail kind={docsText.title} query={useQuery(question)}>
      {(document) => {
        const operation = operationsOf(document).find((each) => each.id === id);
        if (operation) return <Described document={document} operation={operation} key={id} />;
        return (
          <Page title={text.notFound.title}>
            <Empty action={<Link href="~/docs">{words.all}</Link>}>{words.unknown}</Empty>
          </Page>
        );
      }}
    </Detail>
  );
}
