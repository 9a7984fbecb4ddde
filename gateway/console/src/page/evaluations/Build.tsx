import { useQuery } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { build } from "../../api/queries";
import { Detail } from "../../part/Detail";
import { Fact, Facts } from "../../part/Facts";
import { Page } from "../../part/Page";
import { Unknown } from "../../part/Time";
import { text } from "../../text";
import { sourceText } from "./Builds";
import { Cancel } from "./Cancel";
import { evaluationsText } from "./text";
import { canBeCancelled, WorkState } from "./words";
import { WorkFacts, WorkLog } from "./Work";

function Content({ detail }: { detail: Schemas["Build"] }) {
  const path = { params: { path: { build_id: detail.build_id } } };
  return (
    <Page
      title={evaluationsText.buildOf(sourceText(detail))}
      actions={
        <>
          <WorkState status={detail.status} />
          {canBeCancelled(detail.status) && <Cancel send={() => answer(api.POST("/api/v1.0/eval-env/builds/{build_id}/cancel", path))} />}
        </>
      }
    >
      <Facts>
        <WorkFacts work={detail} />
        <Fact name={evaluationsText.work.image}>{detail.image ? <code>{detail.image}</code> : <Unknown />}</Fact>
      </Facts>
      <WorkLog work={detail} />
    </Page>
  );
}

export default function Build({ id }: { id: string }) {
  return (
    <Detail kind={text.kinds.build} query={useQuery(build(id))}>
      {(detail) => <Content detail={detail} />}
    </Detail>
  );
}
