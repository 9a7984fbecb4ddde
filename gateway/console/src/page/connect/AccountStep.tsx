import type { Schemas } from "../../api/client";
import { AccountActions, useStanding } from "./Account";
import { Step } from "./Step";
import { connectText } from "./text";

const words = connectText.account;

/** The person's account at the code host, which proves whose a repository is. */
export function AccountStep({ provider: { name, configured } }: { provider: Schemas["Provider"] }) {
  const { connection, tone, state } = useStanding(name, configured ? words.none : words.needsApp);
  return (
    <Step number={2} title={words.title} tone={tone} state={state}>
      {configured && connection !== undefined && (
        <AccountActions provider={name} connection={connection} loses={connectText.disconnect.codeHost} />
      )}
    </Step>
  );
}
