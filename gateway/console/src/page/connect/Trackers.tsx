import type { Schemas } from "../../api/client";
import { State } from "../../part/State";
import { AccountActions, useStanding } from "./Account";
import { connectText } from "./text";

const words = connectText.trackers;

function Tracker({ provider: { name, configured } }: { provider: Schemas["Provider"] }) {
  const { connection, tone, state } = useStanding(name, configured ? words.none : words.needsOperator);
  return (
    <li>
      <p>
        <strong>{name}</strong> <State tone={configured ? tone : "off"}>{state}</State>
      </p>
      {configured && connection !== undefined && (
        <AccountActions provider={name} connection={connection} loses={connectText.disconnect.tracker} label={words.connect(name)} />
      )}
    </li>
  );
}

/** Accounts at trackers, which no agent needs. */
export function Trackers({ providers }: { providers: readonly Schemas["Provider"][] }) {
  const trackers = providers.filter(({ kind }) => kind === "tracker");
  if (trackers.length === 0) return null;
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <ul class="spaced">
        {trackers.map((each) => (
          <Tracker key={each.name} provider={each} />
        ))}
      </ul>
    </section>
  );
}
