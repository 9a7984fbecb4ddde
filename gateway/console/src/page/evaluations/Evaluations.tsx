/** Evaluations: templates of them, images that are built for them, and runs. */
import { useSearchParams } from "wouter-preact";

import { Page } from "../../part/Page";
import { Tabs } from "../../part/Tabs";
import { Builds } from "./Builds";
import { Runs } from "./Runs";
import { Templates } from "./Templates";
import { evaluationsText } from "./text";

const VIEWS = [
  ["runs", evaluationsText.runs],
  ["templates", evaluationsText.templates],
  ["builds", evaluationsText.builds],
] as const;

const CONTENTS = { runs: Runs, templates: Templates, builds: Builds };

export default function Evaluations() {
  const [address, setAddress] = useSearchParams();
  const view = VIEWS.find(([each]) => each === address.get("view"))?.[0] ?? "runs";
  const Content = CONTENTS[view];
  return (
    <Page
      title={evaluationsText.title}
      wide
      actions={<Tabs label={evaluationsText.view} values={VIEWS} value={view} onChange={(next) => setAddress({ view: next })} />}
    >
      <Content />
    </Page>
  );
}
