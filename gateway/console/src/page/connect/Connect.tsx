import { useQuery } from "@tanstack/preact-query";

import type { Schemas } from "../../api/client";
import { installations, interests } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { AccountStep } from "./AccountStep";
import { AgentStep } from "./AgentStep";
import { AppStep } from "./AppStep";
import { ChannelStep } from "./ChannelStep";
import { Feeds } from "./Feeds";
import { ModelStep } from "./ModelStep";
import { providers } from "./queries";
import { RepositoryStep } from "./RepositoryStep";
import { connectText } from "./text";
import { Trackers } from "./Trackers";

interface Props {
  providers: readonly Schemas["Provider"][];
  interests: readonly Schemas["Interest"][];
  installations: readonly Schemas["Installation"][];
}

function Steps({ providers, interests, installations }: Props) {
  const codeHost = providers.find(({ kind }) => kind === "code_host");
  const hasEndpoints = useScope("webhooks:read");
  const hasAgent = installations.some(({ status }) => status === "active");
  const ofRepositories = interests.filter(({ source_repo_url: url }) => url !== null);
  return (
    <ol class="steps">
      <AppStep isConfigured={codeHost?.configured ?? false} />
      {codeHost && <AccountStep provider={codeHost} />}
      <ModelStep providers={providers} />
      <RepositoryStep interests={ofRepositories} hasAgent={hasAgent} />
      <AgentStep interests={ofRepositories} hasAgent={hasAgent} />
      {hasEndpoints && <ChannelStep />}
    </ol>
  );
}

function Others() {
  return (
    <section class="group">
      <h2>{connectText.others.title}</h2>
      <p>
        {connectText.others.mcp} <code>{`${location.origin}/mcp`}</code>
      </p>
    </section>
  );
}

/** The way of deploy/GITHUB.md: from nothing to an agent on a repository, in six steps. */
export default function Connect() {
  const known = useQuery(providers);
  const hasFeeds = useScope("recommendations:read");
  const mine = useQuery(interests);
  const agents = useQuery(installations);
  return (
    <Page title={connectText.title}>
      <p class="lead">{connectText.lead}</p>
      <Answer query={known}>
        {(rows) => (
          <>
            <Answer query={mine}>
              {({ items: topics }) => (
                <Answer query={agents}>{({ items }) => <Steps providers={rows} interests={topics} installations={items} />}</Answer>
              )}
            </Answer>
            <Trackers providers={rows} />
          </>
        )}
      </Answer>
      {hasFeeds && <Feeds />}
      <Others />
    </Page>
  );
}
