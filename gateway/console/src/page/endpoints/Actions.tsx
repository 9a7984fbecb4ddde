import { useMutation, useQueryClient } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { duration } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { useNotice } from "../../part/Notice";
import type { Open } from "./Dialogs";
import { endpointsText } from "./text";
import { canBeAsked } from "./words";

type Endpoint = Schemas["Webhook"];

const WORDS = endpointsText;

/** What is done at once, each with what it says when it is done. */
function useActions(endpoint: Endpoint) {
  const params = { path: { webhook_id: endpoint.id } };
  return {
    test: async () => {
      const { delivered, duration_ms, error } = await answer(api.POST("/api/v1.0/webhooks/{webhook_id}/test", { params, body: {} }));
      return delivered ? WORDS.tested(duration(duration_ms)) : WORDS.notTested(error ?? "");
    },
    pause: async () => {
      const status = endpoint.status === "active" ? "paused" : "active";
      await answer(api.PATCH("/api/v1.0/webhooks/{webhook_id}", { params, body: { status } }));
      return null;
    },
    ask: async () => {
      await answer(api.POST("/api/v1.0/webhooks/{webhook_id}/confirmation", { params }));
      return WORDS.asked;
    },
  };
}

/** What can be done with an endpoint: at once, or in a dialog. */
export function Actions({ endpoint, onOpen }: { endpoint: Endpoint; onOpen: (open: Open) => void }) {
  const client = useQueryClient();
  const notice = useNotice();
  const actions = useActions(endpoint);
  const doing = useMutation({
    mutationFn: (name: keyof typeof actions) => actions[name](),
    onSuccess: async (said) => {
      if (said !== null) notice({ text: said });
      await client.invalidateQueries({ queryKey: ["endpoints"] });
    },
  });
  const now = (name: keyof typeof actions, words: string) => (
    <Button disabled={doing.isPending} onClick={() => doing.mutate(name)}>
      {words}
    </Button>
  );
  const mustAgree = canBeAsked(endpoint);
  return (
    <>
      {doing.error && <Fault error={doing.error} />}
      {mustAgree ? now("ask", WORDS.confirm) : now("test", WORDS.test)}
      {!mustAgree && now("pause", endpoint.status === "active" ? WORDS.pause : WORDS.enable)}
      {endpoint.kind === "webhook" && <Button onClick={() => onOpen("rotate")}>{WORDS.rotate}</Button>}
      <Button onClick={() => onOpen("edit")}>{WORDS.edit}</Button>
      <Button onClick={() => onOpen("remove")}>{WORDS.remove}</Button>
    </>
  );
}
