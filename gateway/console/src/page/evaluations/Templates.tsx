import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { templates } from "../../api/queries";
import { State } from "../../part/State";
import type { Column } from "../../part/Table";
import { Time, Unknown } from "../../part/Time";
import { List } from "./List";
import { useListAddress } from "./address";
import { TemplateForm } from "./TemplateForm";
import { evaluationsText } from "./text";

type Template = Schemas["Template"];

const NAMES = evaluationsText.columns;

/** Whether a template can still be changed. */
export function Lock({ template }: { template: Template }) {
  return template.locked ? <State tone="done">{evaluationsText.locked}</State> : <State tone="off">{evaluationsText.open}</State>;
}

const COLUMNS: readonly Column<Template>[] = [
  { name: NAMES.template, cell: (row) => <Link href={`/evaluations/templates/${row.template_id}`}>{row.name}</Link> },
  { name: NAMES.status, cell: (row) => <Lock template={row} /> },
  { name: NAMES.version, figure: true, cell: (row) => String(row.version) },
  { name: NAMES.repo, cell: (row) => row.repo ?? <Unknown /> },
  { name: NAMES.changed, cell: (row) => <Time at={row.updated_at} /> },
];

export function Templates() {
  const address = useListAddress("templates", []);
  return (
    <List
      label={evaluationsText.templates}
      address={address}
      statuses={[]}
      query={useQuery(templates(address.offset))}
      columns={COLUMNS}
      rowKey={(row) => row.template_id}
      empty={evaluationsText.noTemplates}
      add={evaluationsText.newTemplate}
      form={<TemplateForm />}
    />
  );
}
