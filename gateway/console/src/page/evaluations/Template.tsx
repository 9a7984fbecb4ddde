import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas, type Versioned } from "../../api/client";
import { absolute } from "../../api/format";
import { evalRuns, template } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Button } from "../../part/form/Button";
import { Chart } from "../../part/Chart";
import { Confirm } from "../../part/form/Confirm";
import { Detail as DetailPage } from "../../part/Detail";
import { Dialog } from "../../part/Dialog";
import { Output } from "../../part/Output";
import { useOffset } from "../../part/offset";
import { Page } from "../../part/Page";
import { Pager } from "../../part/Pager";
import { May } from "../../part/scope";
import { Table } from "../../part/Table";
import { text } from "../../text";
import { RunForm } from "./RunForm";
import { RUN_COLUMNS } from "./Runs";
import { TemplateForm } from "./TemplateForm";
import { Lock } from "./Templates";
import { evaluationsText } from "./text";
import { metricText } from "./words";

type Detail = Versioned<Schemas["Template"]>;
type Run = Schemas["EvalRunItem"];

const CHARTED = 100; // of the newest runs
const ROWS = 25;
const WORDS = evaluationsText.template;

/** Each metric over the runs that reported it, oldest first. */
function Metrics({ runs }: { runs: readonly Run[] }) {
  const scored = runs.filter((run) => run.metrics !== null).reverse();
  const names = [...new Set(scored.flatMap((run) => Object.keys(run.metrics ?? {})))];
  if (scored.length === 0) return <p class="quiet">{WORDS.noScores}</p>;
  return (
    <div class="charts">
      {names.map((name) => (
        <Chart
          key={name}
          title={name}
          points={scored.map((run) => ({ name: run.name ?? absolute(new Date(run.created_at)), value: run.metrics?.[name] ?? null }))}
          format={metricText}
        />
      ))}
    </div>
  );
}

function RunsOf({ id }: { id: string }) {
  const [offset, move] = useOffset("offset");
  const filter = { status: undefined, template_id: id };
  return (
    <section class="group">
      <h2>{evaluationsText.runs}</h2>
      <Answer query={useQuery(evalRuns(filter, CHARTED, 0))}>{({ items }) => <Metrics runs={items} />}</Answer>
      <Answer query={useQuery(evalRuns(filter, ROWS, offset))}>
        {({ items, total }) =>
          total > 0 && (
            <>
              <Table label={evaluationsText.runs} columns={RUN_COLUMNS} rows={items} rowKey={(row) => row.run_id} />
              <Pager offset={offset} size={ROWS} total={total} onMove={move} />
            </>
          )
        }
      </Answer>
    </section>
  );
}

function LockTemplate({ detail, onClose }: { detail: Detail; onClose: () => void }) {
  const client = useQueryClient();
  const path = { params: { path: { template_id: detail.template_id } } };
  return (
    <Confirm
      title={WORDS.lockTitle(detail.name)}
      action={WORDS.lock}
      send={() => answer(api.POST("/api/v1.0/eval-env/templates/{template_id}/lock", path))}
      onDone={() => client.invalidateQueries({ queryKey: ["evaluations"] })}
      onClose={onClose}
    >
      <p>{WORDS.lockText}</p>
    </Confirm>
  );
}

type Open = "edit" | "lock" | "run" | null;

function Dialogs({ detail, open, onClose }: { detail: Detail; open: Open; onClose: () => void }) {
  if (open === "lock") return <LockTemplate detail={detail} onClose={onClose} />;
  if (open === null) return null;
  return (
    <Dialog title={open === "edit" ? WORDS.edit : evaluationsText.newRun} onClose={onClose}>
      {open === "edit" ? <TemplateForm template={detail} onDone={onClose} /> : <RunForm templateId={detail.template_id} />}
    </Dialog>
  );
}

function Content({ detail }: { detail: Detail }) {
  const [open, setOpen] = useState<Open>(null);
  return (
    <Page
      title={detail.name}
      actions={
        <>
          <Lock template={detail} />
          <May scope="eval:write">
            {!detail.locked && <Button onClick={() => setOpen("edit")}>{WORDS.edit}</Button>}
            {!detail.locked && <Button onClick={() => setOpen("lock")}>{WORDS.lock}</Button>}
            <Button kind="main" onClick={() => setOpen("run")}>
              {evaluationsText.newRun}
            </Button>
          </May>
        </>
      }
    >
      {detail.description && <p class="read prose">{detail.description}</p>}
      <p class="small quiet">{WORDS.about(detail.version, detail.repo)}</p>
      <Output label={WORDS.spec}>{JSON.stringify(detail.spec, null, 2)}</Output>
      <RunsOf id={detail.template_id} />
      <Dialogs detail={detail} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

export default function Template({ id }: { id: string }) {
  return (
    <DetailPage kind={text.kinds.template} query={useQuery(template(id))}>
      {(detail) => <Content detail={detail} />}
    </DetailPage>
  );
}
