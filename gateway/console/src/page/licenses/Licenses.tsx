import packages from "console:packages";

import { Page } from "../../part/Page";
import { text } from "../../text";

export default function Licenses() {
  return (
    <Page title={text.licenses.title}>
      <p class="read">{text.licenses.lead}</p>
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
