/** A project with its experiments. */
import { useQuery, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { useLocation, useSearchParams } from "wouter-preact";

import { answer, api, type Schemas, type Versioned } from "../../api/client";
import { counted } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Confirm } from "../../part/form/Confirm";
import { Detail as DetailPage } from "../../part/Detail";
import { Dialog } from "../../part/Dialog";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { text } from "../../text";
import { useColumns } from "./columns";
import { ExperimentForm } from "./ExperimentForm";
import { ExperimentList } from "./ExperimentList";
import { ProjectForm } from "./ProjectForm";
import { experiments, project } from "./queries";
import { experimentsText, projectsText } from "./text";

type Detail = Versioned<Schemas["Project"]>;

const WORDS = projectsText;

function Removal({ detail, onClose }: { detail: Detail; onClose: () => void }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const onDone = async () => {
    navigate("/experiments/projects");
    client.removeQueries({ queryKey: ["experiments", "projects", detail.id] });
    await client.invalidateQueries({ queryKey: ["experiments"] });
  };
  return (
    <Confirm
      title={WORDS.removeTitle(detail.name)}
      action={WORDS.remove}
      send={() => answer(api.DELETE("/api/v1.0/projects/{project_id}", { params: { path: { project_id: detail.id } } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{WORDS.removeText(counted(detail.experiments_count, "experiment"))}</p>
    </Confirm>
  );
}

type Open = "add" | "edit" | "remove" | null;

function Dialogs({ detail, open, onClose }: { detail: Detail; open: Open; onClose: () => void }) {
  const [, navigate] = useLocation();
  if (open === null) return null;
  if (open === "remove") return <Removal detail={detail} onClose={onClose} />;
  return (
    <Dialog title={open === "edit" ? WORDS.edit : experimentsText.add} onClose={onClose}>
      {open === "edit" ? (
        <ProjectForm project={detail} onDone={onClose} />
      ) : (
        <ExperimentForm projectId={detail.id} onDone={(id) => navigate(`/experiments/${id}`)} />
      )}
    </Dialog>
  );
}

function Content({ detail }: { detail: Detail }) {
  const { columns } = useColumns();
  const [open, setOpen] = useState<Open>(null);
  const [address, setAddress] = useSearchParams();
  const offset = Number(address.get("offset") ?? 0) || 0;
  const canWrite = useScope("experiments:write");
  return (
    <Page
      title={detail.name}
      wide
      actions={
        canWrite && (
          <>
            <Button onClick={() => setOpen("edit")}>{WORDS.edit}</Button>
            <Button onClick={() => setOpen("remove")}>{WORDS.remove}</Button>
            <Button kind="main" onClick={() => setOpen("add")}>
              {experimentsText.add}
            </Button>
          </>
        )
      }
    >
      {detail.description && <p class="read prose">{detail.description}</p>}
      <ExperimentList
        query={useQuery(experiments({ status: undefined, project_id: detail.id, tag: undefined }, offset))}
        offset={offset}
        columns={columns.filter(({ name }) => name !== experimentsText.columns.project)}
        empty={WORDS.noExperiments}
        onMove={(next) => setAddress({ offset: String(next) })}
      />
      <Dialogs detail={detail} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

export default function Project({ id }: { id: string }) {
  return (
    <DetailPage kind={text.kinds.project} query={useQuery(project(id))}>
      {(detail) => <Content detail={detail} />}
    </DetailPage>
  );
}
