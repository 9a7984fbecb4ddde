/** Evaluations: templates of them, images that are built for them, and runs. */
import { useSearchParams } from "wouter-preact";

import { Page } from "../../part/Page";
import { Tabs } from "../../part/Tabs";
import { text } from "../../text";
import { Builds } from "./Builds";
import { Runs } from "./Runs";
import { Templates } from "./Templates";

const VIEWS = [
  ["runs", text.evaluations.runs],
  ["templates", text.evaluations.templates],
  ["builds", text.evaluations.builds],
] as const;

const CONTENTS = { runs: Runs, templates: Templates, builds: Builds };

export default function Evaluations() {
  const [address, setAddress] = useSearchParams();
  const view = VIEWS.find(([each]) => each === address.get("view"))?.[0] ?? "runs";
  const Content = CONTENTS[view];
  return (
    <Page
      title={text.evaluations.title}
      wide
      actions={<Tabs label={text.evaluations.view} values={VIEWS} value={view} onChange={(next) => setAddress({ view: next })} />}
    >
      <Content />
    </Page>
  );
}
