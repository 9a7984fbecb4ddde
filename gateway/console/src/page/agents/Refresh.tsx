import { useMutation, useQueryClient } from "@tanstack/preact-query";

import { answer, api } from "../../api/client";
import { count, counted } from "../../api/format";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { agentsText } from "./text";

const words = agentsText;

const refresh = () => answer(api.POST("/api/v1.0/fleet/agents/refresh", { body: {} }));

function Result({ repos, skipped, remaining }: Awaited<ReturnType<typeof refresh>>) {
  const seen = counted(repos.length, "repository", "repositories");
  return (
    <>
      <p>{remaining > 0 ? words.refreshedSome(seen, count(remaining)) : words.refreshed(seen)}</p>
      {skipped.map(({ repo, reason }) => (
        <p key={repo}>{words.skipped(repo, reason)}</p>
      ))}
    </>
  );
}

/** Asks the code host what became of pull requests, issues and runs, in place of waiting until it tells. */
export function Refresh() {
  const client = useQueryClient();
  const refreshing = useMutation({
    mutationFn: refresh,
    onSuccess: () => Promise.all(["fleet", "inbox"].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
  return (
    <>
      <div class="actions">
        <Button disabled={refreshing.isPending} onClick={() => refreshing.mutate()}>
          {words.refresh}
        </Button>
      </div>
      <div role="status">{refreshing.data && <Result {...refreshing.data} />}</div>
      {refreshing.error && <Fault error={refreshing.error} />}
    </>
  );
}
