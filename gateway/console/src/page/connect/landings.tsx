/** The pages to which the code host leads a browser back. Each completes its step by one call with what is in its address, and removes that
 * from the address, since it works once. */
import { useMutation, useQueryClient } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { safeLink } from "../../api/format";
import { Problem } from "../../api/problem";
import { Fault } from "../../part/Fault";
import { Page } from "../../part/Page";
import { text } from "../../text";
import { takeAttempt } from "./attempt";
import { connectText } from "./text";

const words = connectText.landings;

/** The query of the address as it was when the page was opened. */
function useQueryOnce(): URLSearchParams {
  const [query] = useState(() => new URLSearchParams(location.search));
  useEffect(() => history.replaceState(history.state, "", location.pathname), []);
  return query;
}

interface Props<T> {
  title: string;
  complete: () => Promise<T>;
  children: (result: T) => ComponentChildren;
}

function Landing<T>({ title, complete, children }: Props<T>) {
  const client = useQueryClient();
  const completing = useMutation({ mutationFn: complete, onSuccess: () => client.invalidateQueries() });
  const { mutate } = completing;
  useEffect(() => mutate(), [mutate]);
  return (
    <Page title={title}>
      <div role="status">
        {completing.isPending && <p aria-busy="true">{text.loading}</p>}
        {completing.data !== undefined && children(completing.data)}
      </div>
      {completing.error && <Fault error={completing.error} />}
      <p>
        <Link href="/connect">{words.back}</Link>
      </p>
    </Page>
  );
}

export function Created() {
  const query = useQueryOnce();
  const body = { code: query.get("code") ?? "", state: query.get("state") ?? "" };
  return (
    <Landing title={words.created} complete={() => answer(api.POST("/api/v1.0/github/app/created", { body }))}>
      {(app) => (
        <>
          <p>{words.appIs(app.slug, app.owner)}</p>
          <p>
            <a class="button button-main" href={safeLink(app.install_url)}>
              {connectText.app.install}
            </a>
          </p>
        </>
      )}
    </Landing>
  );
}

/** Exchange the code; or say why there is none. */
async function connect(query: URLSearchParams): Promise<Schemas["Connected"]> {
  const refusal = query.get("error");
  if (refusal !== null) throw new Problem(0, words.refused, query.get("error_description") ?? refusal, null);
  const attempt = takeAttempt(query.get("state"));
  if (attempt === null) throw new Problem(0, words.elsewhere, words.elsewhereText, null);
  const path = { provider_name: attempt.provider };
  const body = { code: query.get("code") ?? "", state: attempt.state, redirect_uri: attempt.redirectUri };
  return answer(api.POST("/api/v1.0/integrations/{provider_name}/callback", { params: { path }, body }));
}

export function Connected() {
  const query = useQueryOnce();
  return (
    <Landing title={words.connected} complete={() => connect(query)}>
      {({ provider, connection }) => <p>{words.connectionIs(provider, connection.external_account?.login ?? "")}</p>}
    </Landing>
  );
}

const ACTIONS = ["install", "update", "request"] as const;

function confirm(query: URLSearchParams) {
  const id = query.get("installation_id");
  const body = {
    installation_id: id === null ? null : Number(id),
    setup_action: ACTIONS.find((each) => each === query.get("setup_action")) ?? null,
    state: query.get("state"),
  };
  return answer(api.POST("/api/v1.0/github/app/installed", { body }));
}

export function Installed() {
  const query = useQueryOnce();
  return (
    <Landing title={words.installed} complete={() => confirm(query)}>
      {(result) =>
        result.installed ? (
          <>
            <p>{words.installationIs(result.account ?? "")}</p>
            <ul>
              {result.repositories?.map((name) => (
                <li key={name}>{name}</li>
              ))}
            </ul>
          </>
        ) : (
          <p>{words.reasons[result.reason ?? "not_yours"]}</p>
        )
      }
    </Landing>
  );
}
