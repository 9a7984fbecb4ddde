import { Link, useLocation, useSearchParams } from "wouter-preact";

import { Button } from "../../part/Button";
import { Dialog } from "../../part/Dialog";
import { Page } from "../../part/Page";
import { Tabs } from "../../part/Tabs";
import { text } from "../../text";
import { ExperimentForm } from "./ExperimentForm";
import { ExperimentList } from "./ExperimentList";
import { STATUSES } from "./words";

const FILTERS = [["", text.experiments.all], ...STATUSES.map((status) => [status, status] as const)] as const;

export default function Experiments() {
  const [address, setAddress] = useSearchParams();
  const [, navigate] = useLocation();
  const status = STATUSES.find((each) => each === address.get("status"));
  const filter = status ? { status } : {};
  return (
    <Page
      title={text.experiments.title}
      wide
      actions={
        <>
          <Link class="button" href="/experiments/projects">
            {text.projects.title}
          </Link>
          <Button kind="main" onClick={() => setAddress({ ...filter, new: "1" })}>
            {text.experiments.add}
          </Button>
        </>
      }
    >
      <Tabs
        label={text.experiments.status}
        values={FILTERS}
        value={status ?? ""}
        onChange={(next) => setAddress(next ? { status: next } : {})}
      />
      <ExperimentList
        filter={{ status, project_id: undefined }}
        offset={Number(address.get("offset") ?? 0) || 0}
        empty={status ? text.experiments.none : text.experiments.empty}
        onMove={(next) => setAddress({ ...filter, offset: String(next) })}
      />
      {address.get("new") === "1" && (
        <Dialog title={text.experiments.add} onClose={() => setAddress(filter)}>
          <ExperimentForm onDone={(id) => navigate(`/experiments/${id}`)} />
        </Dialog>
      )}
    </Page>
  );
}
