import packages from "console:packages";

import { Page } from "../../part/Page";
import { licensesText } from "./text";

export default function Licenses() {
  return (
    <Page title={licensesText.title}>
      <p class="read">{licensesText.lead}</p>
      {packages.map((each) => (
        <details key={each.name}>
          <summary>
            {each.name} {each.version}, {each.license}
          </summary>
          <pre class="command prose">{each.text}</pre>
        </details>
      ))}
    </Page>
  );
}
