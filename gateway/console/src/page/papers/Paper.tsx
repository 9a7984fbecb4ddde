import { useQuery } from "@tanstack/preact-query";

import { safeLink } from "../../api/format";
import type { Schemas } from "../../api/client";
import { paper } from "../../api/queries";
import { Detail } from "../../part/Detail";
import { Page } from "../../part/Page";
import { PaperMeta } from "../../part/PaperMeta";
import { text } from "../../text";
import { Outcomes } from "./Outcomes";
import { Similar } from "./Similar";

function Content({ detail }: { detail: Schemas["AssetDetail"] }) {
  const address = safeLink(detail.url);
  return (
    <Page title={detail.title}>
      <PaperMeta paper={{ ...detail, withdrawn: detail.withdrawn ?? false }} />
      <p class="read prose">{detail.abstract}</p>
      {address && (
        <p>
          <a href={address} rel="noopener noreferrer" target="_blank">
            {detail.arxiv_id}
          </a>
        </p>
      )}
      {detail.containerfile !== null && <pre class="command">{detail.containerfile}</pre>}
      <Outcomes id={detail.arxiv_id} />
      <Similar id={detail.arxiv_id} />
    </Page>
  );
}

export default function Paper({ id }: { id: string }) {
  return (
    <Detail kind={text.kinds.paper} query={useQuery(paper(id))}>
      {(detail) => <Content detail={detail} />}
    </Detail>
  );
}
