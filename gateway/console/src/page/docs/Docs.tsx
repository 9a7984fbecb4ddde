/** The API, drawn from its description: all operations by subject, found by words. */
import { useQuery } from "@tanstack/preact-query";
import { useMemo } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";

import { counted } from "../../api/format";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Empty } from "../../part/Empty";
import { Page } from "../../part/Page";
import { Method } from "./Method";
import { Prose } from "./Prose";
import { operationsOf, type Description, type Operation } from "./description";
import { description as question } from "./query";
import { docsText } from "./text";

const words = docsText;

/** Whether each word is in what is shown of it. */
function matches(operation: Operation, query: string): boolean {
  const shown = [operation.id, operation.method, operation.path, operation.summary, operation.tag].join(" ").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}

function Row({ operation }: { operation: Operation }) {
  return (
    <li class="operation">
      <Method name={operation.method} />
      <Link class="operation-path" href={`~/docs/${operation.id}`}>
        {operation.path}
      </Link>
      <span class="quiet">{operation.deprecated ? words.deprecated(operation.summary) : operation.summary}</span>
    </li>
  );
}

function Group({ tag, operations }: { tag: Description["tags"][number]; operations: readonly Operation[] }) {
  if (operations.length === 0) return null;
  return (
    <section class="group" id={tag.name.replaceAll(" ", "-")}>
      <h2>{tag.name}</h2>
      <Prose>{tag.description}</Prose>
      <ul class="operations">
        {operations.map((operation) => (
          <Row key={operation.id} operation={operation} />
        ))}
      </ul>
    </section>
  );
}

function Content({ document }: { document: Description }) {
  const [address, setAddress] = useSearchParams();
  const query = address.get("q") ?? "";
  const all = useMemo(() => operationsOf(document), [document]);
  const found = all.filter((operation) => matches(operation, query));
  return (
    <>
      <details>
        <summary>{words.about}</summary>
        <Prose>{document.info.description}</Prose>
      </details>
      <input
        type="search"
        aria-label={words.filter}
        placeholder={words.filter}
        value={query}
        onInput={(event) => setAddress(event.currentTarget.value ? { q: event.currentTarget.value } : {}, { replace: true })}
      />
      <p class="lead" aria-live="polite">
        {counted(found.length, "operation")}
      </p>
      {found.length === 0 && <Empty action={<Button onClick={() => setAddress({})}>{words.clear}</Button>}>{words.none}</Empty>}
      {document.tags.map((tag) => (
        <Group key={tag.name} tag={tag} operations={found.filter((operation) => operation.tag === tag.name)} />
      ))}
    </>
  );
}

export default function Docs() {
  return (
    <Page title={words.title}>
      <p class="read">
        {words.lead} <a href="/api/v1.0/openapi.json">openapi.json</a>
      </p>
      <Answer query={useQuery(question)}>{(document) => <Content document={document} />}</Answer>
    </Page>
  );
}
