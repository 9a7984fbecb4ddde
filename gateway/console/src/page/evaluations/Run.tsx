import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { evalRun, template } from "../../api/queries";
import { Detail as DetailPage } from "../../part/Detail";
import { Fact, Facts } from "../../part/Facts";
import { Output } from "../../part/Output";
import { Page } from "../../part/Page";
import { Table } from "../../part/Table";
import { Unknown } from "../../part/Time";
import { text } from "../../text";
import { Cancel } from "./Cancel";
import { evaluationsText } from "./text";
import { canBeCancelled, metricText, WorkState } from "./words";
import { WorkFacts, WorkLog } from "./Work";

type Detail = Schemas["EvalRun"];

const WORDS = evaluationsText.work;

function Metrics({ metrics }: { metrics: Readonly<Record<string, number>> }) {
  return (
    <section class="group">
      <h2>{WORDS.metrics}</h2>
      <Table
        label={WORDS.metrics}
        rows={Object.entries(metrics)}
        rowKey={([name]) => name}
        columns={[
          { name: WORDS.metric, cell: ([name]) => name },
          { name: WORDS.value, figure: true, cell: ([, value]) => metricText(value) },
        ]}
      />
    </section>
  );
}

function Artifacts({ artifacts }: { artifacts: Detail["artifacts"] }) {
  return (
    <section class="group">
      <h2>{WORDS.artifacts}</h2>
      <ul>
        {artifacts.map(({ name, url }) => (
          <li key={name}>
            {safeLink(url) ? (
              <a href={safeLink(url)} rel="noopener noreferrer" target="_blank">
                {name}
              </a>
            ) : (
              name
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function TemplateLink({ id, version }: { id: string; version: number }) {
  const name = useQuery(template(id)).data?.name;
  return (
    <>
      <Link href={`/evaluations/templates/${id}`}>{name ?? id.slice(-12)}</Link> <span class="quiet">{WORDS.version(version)}</span>
    </>
  );
}

function Origin({ detail }: { detail: Detail }) {
  return (
    <>
      <Fact name={WORDS.template}>
        {detail.template_id ? <TemplateLink id={detail.template_id} version={detail.template_version ?? 0} /> : <Unknown />}
      </Fact>
      <Fact name={WORDS.build}>
        {detail.build_id ? <Link href={`/evaluations/builds/${detail.build_id}`}>{detail.build_id.slice(-12)}</Link> : <Unknown />}
      </Fact>
      <Fact name={WORDS.params}>
        <code>{JSON.stringify(detail.params)}</code>
      </Fact>
    </>
  );
}

function Content({ detail }: { detail: Detail }) {
  const path = { params: { path: { run_id: detail.run_id } } };
  return (
    <Page
      title={detail.name ?? evaluationsText.runOf(detail.run_id.slice(-12))}
      actions={
        <>
          <WorkState status={detail.status} />
          {canBeCancelled(detail.status) && <Cancel send={() => answer(api.POST("/api/v1.0/eval-env/runs/{run_id}/cancel", path))} />}
        </>
      }
    >
      <Facts>
        <WorkFacts work={detail} />
        <Origin detail={detail} />
      </Facts>
      {detail.metrics && <Metrics metrics={detail.metrics} />}
      {detail.artifacts.length > 0 && <Artifacts artifacts={detail.artifacts} />}
      {detail.results && (
        <section class="group">
          <h2>{WORDS.results}</h2>
          <Output label={WORDS.results}>{JSON.stringify(detail.results, null, 2)}</Output>
        </section>
      )}
      <WorkLog work={detail} />
    </Page>
  );
}

export default function Run({ id }: { id: string }) {
  return (
    <DetailPage kind={text.kinds.evalRun} query={useQuery(evalRun(id))}>
      {(detail) => <Content detail={detail} />}
    </DetailPage>
  );
}
