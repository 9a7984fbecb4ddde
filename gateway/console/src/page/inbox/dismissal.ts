import { useMutation, useQueryClient } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import { useNotice } from "../../part/Notice";
import { inboxText } from "./text";

const change = (ids: readonly string[], undo: boolean) =>
  answer(api.POST("/api/v1.0/fleet/agents/inbox/dismiss", { body: { ids: [...ids], undo } }));

/** Dismiss items; the last ones can be taken back. */
export function useDismissal() {
  const client = useQueryClient();
  const notice = useNotice();
  const renew = () => client.invalidateQueries({ queryKey: ["inbox"] });
  const undoing = useMutation({ mutationFn: (ids: readonly string[]) => change(ids, true), onSuccess: renew });
  const dismissing = useMutation({
    mutationFn: (ids: readonly string[]) => change(ids, false),
    onSuccess: async (_answer, ids) => {
      notice({ text: inboxText.archived, onUndo: () => undoing.mutate(ids) });
      await renew();
    },
  });
  return {
    dismiss: dismissing.mutate,
    restore: undoing.mutate,
    undo: () => dismissing.variables && undoing.mutate(dismissing.variables),
    isPending: dismissing.isPending || undoing.isPending,
    error: dismissing.error ?? undoing.error,
  };
}
