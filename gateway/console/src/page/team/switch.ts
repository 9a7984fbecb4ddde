import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useLocation } from "wouter-preact";

import { answer, api } from "../../api/client";
import { session } from "../../api/session";

/** Lets the session show another account of its person; nothing of the former one stays. */
export function useSwitch() {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: (account_id: string) => answer(api.POST("/api/v1.0/session/switch", { body: { account_id } })),
    onSuccess: (data) => {
      client.setQueryData(session.queryKey, data);
      navigate("/");
    },
  });
}
