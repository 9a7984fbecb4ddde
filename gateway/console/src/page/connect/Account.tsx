/** An account at a provider that is connected by consent there (OAuth): how it is, and what can be done. */
import { useMutation, useQuery } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { May } from "../../part/scope";
import type { Tone } from "../../part/State";
import { text } from "../../text";
import { rememberAttempt } from "./attempt";
import { Disconnect } from "./Disconnect";
import { connectionStatus } from "./queries";
import { connectText } from "./text";

type Connection = Schemas["Connection"];

const words = connectText.account;

export interface Standing {
  connection: Connection | null | undefined; // undefined: not known yet
  tone: Tone;
  state: string;
}

/** How the connection to a provider stands; `none` says what there is without one. */
export function useStanding(provider: string, none: string): Standing {
  const { data, error } = useQuery(connectionStatus(provider));
  const connection = data?.connection;
  if (connection === undefined) return { connection, tone: "off", state: error?.message ?? text.loading };
  if (connection === null) return { connection, tone: "waits", state: none };
  if (connection.status === "expired") return { connection, tone: "failed", state: words.expired(connection.status_reason) };
  return { connection, tone: "done", state: words.is(connection.external_account?.login ?? "") };
}

interface Props {
  provider: string;
  connection: Connection | null;
  loses: string; // by disconnecting
  label?: string; // of the button, where the page has several
}

/** Leads to the provider, which leads back to /connect/oauth. */
export function AccountActions({ provider, connection, loses, label }: Props) {
  const going = useMutation({
    mutationFn: () => answer(api.GET("/api/v1.0/integrations/{provider_name}/auth-url", { params: { path: { provider_name: provider } } })),
    onSuccess: ({ auth_url: address, state }) => {
      rememberAttempt(provider, state, address);
      location.assign(address);
    },
  });
  return (
    <>
      <div class="actions">
        <May scope="integrations:write">
          <Button disabled={going.isPending} {...(label ? { label } : {})} onClick={() => going.mutate()}>
            {connection ? words.again : words.connect}
          </Button>
        </May>
        {connection && <Disconnect provider={provider} loses={loses} />}
      </div>
      {going.error && <Fault error={going.error} />}
    </>
  );
}
