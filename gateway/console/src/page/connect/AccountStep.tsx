import { useMutation } from "@tanstack/preact-query";

import { answer, api, type Schemas } from "../../api/client";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { text } from "../../text";
import { rememberAttempt } from "./attempt";
import { Step } from "./Step";

const words = text.connect.account;

/** The person's account at the code host, which proves whose a repository is. */
export function AccountStep({ provider, connection }: { provider: Schemas["Provider"]; connection?: Schemas["Connection"] | undefined }) {
  const going = useMutation({
    mutationFn: () =>
      answer(api.GET("/api/v1.0/integrations/{provider_name}/auth-url", { params: { path: { provider_name: provider.name } } })),
    onSuccess: ({ auth_url: address, state }) => {
      rememberAttempt(provider.name, state, address);
      location.assign(address);
    },
  });
  const login = connection?.external_account?.login;
  const missing = provider.configured ? words.none : words.needsApp;
  return (
    <Step number={2} title={words.title} tone={connection ? "done" : "waits"} state={connection ? words.is(login ?? "") : missing}>
      {provider.configured && (
        <div class="actions">
          <Button disabled={going.isPending} onClick={() => going.mutate()}>
            {connection ? words.again : words.connect}
          </Button>
        </div>
      )}
      {going.error && <Fault error={going.error} />}
    </Step>
  );
}
