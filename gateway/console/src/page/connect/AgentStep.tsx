import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { AgentSetup } from "./AgentSetup";
import { Step } from "./Step";
import { connectText } from "./text";

const words = connectText.agent;

/** The agent of each interest of a repository. */
export function AgentStep({ interests, hasAgent }: { interests: readonly Schemas["Interest"][]; hasAgent: boolean }) {
  const missing = interests.length > 0 ? words.none : words.needsInterest;
  return (
    <Step number={5} title={words.title} tone={hasAgent ? "done" : "waits"} state={hasAgent ? words.there : missing}>
      {interests.length > 0 && (
        <ul class="plain">
          {interests.map((each) => (
            <li key={each.id}>
              <h3>
                <Link href={`/interests/${each.id}`}>{each.name}</Link>
              </h3>
              <AgentSetup interest={each} />
            </li>
          ))}
        </ul>
      )}
    </Step>
  );
}
