import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from "@tanstack/preact-query";
import { render } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import { Route, Router, Switch, useRoute } from "wouter-preact";

import { ACCOUNT_CHANGED } from "./api/client";
import { followWindows, forgetFormer, identityOf } from "./api/identity";
import { Problem } from "./api/problem";
import { session } from "./api/session";
import { Login, LoginAgain } from "./page/login/Login";
import Today from "./page/today/Today";
import { Answer } from "./part/Answer";
import { Broken } from "./part/Broken";
import { Empty } from "./part/Empty";
import { Notices, useNotice } from "./part/Notice";
import { usePath, useQueryText } from "./part/link/address";
import { Page } from "./part/Page";
import { Shell } from "./part/shell/Shell";
import { applyTheme } from "./part/shell/theme";
import { text } from "./text";

import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/today.css";
import "./style/chart.css";
import "./style/guide.css";
import "./style/docs.css";
import "./style/connect.css";

const Actionable = lazy(() => import("./page/experiments/Actionable"));
const Agent = lazy(() => import("./page/agents/Agent"));
const Audit = lazy(() => import("./page/audit/Audit"));
const Agents = lazy(() => import("./page/agents/Agents"));
const Budgets = lazy(() => import("./page/budgets/Budgets"));
const Build = lazy(() => import("./page/evaluations/Build"));
const Endpoint = lazy(() => import("./page/endpoints/Endpoint"));
const EvalRun = lazy(() => import("./page/evaluations/Run"));
const EvalTemplate = lazy(() => import("./page/evaluations/Template"));
const Evaluations = lazy(() => import("./page/evaluations/Evaluations"));
const Docs = lazy(() => import("./page/docs/Docs"));
const Operation = lazy(() => import("./page/docs/Operation"));
const Connect = lazy(() => import("./page/connect/Connect"));
const Created = lazy(() => import("./page/connect/landings").then(({ Created: component }) => component));
const Connected = lazy(() => import("./page/connect/landings").then(({ Connected: component }) => component));
const Installed = lazy(() => import("./page/connect/landings").then(({ Installed: component }) => component));
const Experiments = lazy(() => import("./page/experiments/Experiments"));
const Experiment = lazy(() => import("./page/experiments/Experiment"));
const Compare = lazy(() => import("./page/experiments/Compare"));
const Guide = lazy(() => import("./page/guide/Guide"));
const Inbox = lazy(() => import("./page/inbox/Inbox"));
const Interests = lazy(() => import("./page/interests/Interests"));
const Interest = lazy(() => import("./page/interests/Interest"));
const Join = lazy(() => import("./page/team/Join"));
const Licenses = lazy(() => import("./page/licenses/Licenses"));
const Operator = lazy(() => import("./page/operator/Operator"));
const Papers = lazy(() => import("./page/papers/Papers"));
const Paper = lazy(() => import("./page/papers/Paper"));
const Project = lazy(() => import("./page/experiments/Project"));
const Projects = lazy(() => import("./page/experiments/Projects"));
const Run = lazy(() => import("./page/agents/Run"));
const Settings = lazy(() => import("./page/settings/Settings"));

/** Addresses that are not below the console's begin with ~. Pages below /docs need no session. */
const DOCS = /^~\/docs(?:\/|$)/;
const OPERATION = /^~\/docs(?:\/(?<id>[^/]*))?$/;
const GUIDE = /^~\/docs\/guide(?:\/(?<name>[^/]*))?\/?$/;

const NETWORK_RETRIES = 2;

/** Only what may pass by itself is tried again: no answer, one of a server that is away, or of a gateway that does not know for a second
 * that this page has switched the account. */
function isTransient(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status >= 502 || error.slug === ACCOUNT_CHANGED);
}

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < NETWORK_RETRIES && isTransient(error),
      refetchOnWindowFocus: true,
    },
  },
});

function NotFound() {
  return (
    <Page title={text.notFound.title}>
      <Empty action={<a href="/console/">{text.notFound.back}</a>}>{text.notFound.lead}</Empty>
    </Page>
  );
}

function Pages() {
  return (
    <Broken>
      <Suspense fallback={<p class="quiet">{text.loading}</p>}>
        <Switch>
          <Route path="/" component={Today} />
          <Route path="/inbox" component={Inbox} />
          <Route path="/interests" component={Interests} />
          <Route path="/interests/:id">{({ id }) => <Interest id={id} key={id} />}</Route>
          <Route path="/papers" component={Papers} />
          <Route path="/papers/:id">{({ id }) => <Paper id={named(id)} key={id} />}</Route>
          <Route path="/experiments" component={Experiments} />
          <Route path="/experiments/actionable" component={Actionable} />
          <Route path="/experiments/projects" component={Projects} />
          <Route path="/experiments/projects/:id">{({ id }) => <Project id={id} key={id} />}</Route>
          <Route path="/experiments/:id">{({ id }) => <Experiment id={id} key={id} />}</Route>
          <Route path="/compare" component={Compare} />
          <Route path="/agents" component={Agents} />
          <Route path="/agents/budgets" component={Budgets} />
          <Route path="/agents/:owner/:name">{({ owner, name }) => <Agent repo={`${owner}/${name}`} key={`${owner}/${name}`} />}</Route>
          <Route path="/runs/:id">{({ id }) => <Run id={named(id)} key={id} />}</Route>
          <Route path="/evaluations" component={Evaluations} />
          <Route path="/evaluations/builds/:id">{({ id }) => <Build id={id} key={id} />}</Route>
          <Route path="/evaluations/runs/:id">{({ id }) => <EvalRun id={id} key={id} />}</Route>
          <Route path="/evaluations/templates/:id">{({ id }) => <EvalTemplate id={id} key={id} />}</Route>
          <Route path="/connect" component={Connect} />
          <Route path="/connect/created" component={Created} />
          <Route path="/connect/oauth" component={Connected} />
          <Route path="/connect/installed" component={Installed} />
          <Route path="/join" component={Join} />
          <Route path="/settings" component={Settings} />
          <Route path="/settings/audit" component={Audit} />
          <Route path="/settings/endpoints/:id">{({ id }) => <Endpoint id={id} key={id} />}</Route>
          <Route path="/operator" component={Operator} />
          <Route path="/licenses" component={Licenses} />
          <Route path={GUIDE}>{({ name }) => <Guide name={name ?? ""} />}</Route>
          <Route path={OPERATION}>{({ id }) => (id ? <Operation id={id} key={id} /> : <Docs />)}</Route>
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </Broken>
  );
}

/** What a segment of the address names; one that cannot be unescaped names itself. */
function named(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The page, or the log-in page in its place; above it where the session has ended, so that what is typed in it stays. */
function Root() {
  const client = useQueryClient();
  const [isOpen] = useRoute(DOCS);
  const notice = useNotice();
  useEffect(() => followWindows(client, () => notice({ text: text.accountChanged })), [client, notice]);
  return (
    <Answer query={useQuery(session)}>
      {(who) =>
        who === null && !isOpen ? (
          <Login />
        ) : (
          <Shell key={identityOf(who)} session={isOpen && who?.hasEnded ? null : who}>
            <Pages />
            {who?.hasEnded && !isOpen && <LoginAgain />}
          </Shell>
        )
      }
    </Answer>
  );
}

applyTheme();
forgetFormer(client);
const root = document.getElementById("root");
if (root) {
  root.replaceChildren(); // what it says until the script is there
  render(
    <QueryClientProvider client={client}>
      <Router base="/console" hook={usePath} searchHook={useQueryText}>
        <Notices>
          <Root />
        </Notices>
      </Router>
    </QueryClientProvider>,
    root,
  );
}
