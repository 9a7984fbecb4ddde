import { useMutation, useQuery, useQueryClient } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";

import { answer, api, type Schemas } from "../../api/client";
import { inbox } from "../../api/queries";
import { showLoggedOut } from "../../api/session";
import { accounts } from "../../api/team";
import { useSwitch } from "../../page/team/switch";
import { text } from "../../text";
import { Button } from "../form/Button";
import { Chooser } from "../form/Chooser";
import { Dialog } from "../Dialog";
import { Fault } from "../Fault";
import { guideOf, sectionOf } from "./guide";
import { keysAreOn, switchKeys, TO_SEARCH, useKeys, useKeySequence } from "../keyboard";
import { LiveSwitch, Silence } from "./Live";
import { useNarrow } from "./narrow";
import { setTheme, theme, THEMES, type Theme } from "./theme";

type Scope = Schemas["Scope"];

/** Address, name, and the scope without which it is not there. */
const PAGES: readonly (readonly [string, string, Scope?])[] = [
  ["/", text.nav.today],
  ["/inbox", text.nav.inbox],
  ["/interests", text.nav.interests],
  ["/papers", text.nav.papers],
  ["/experiments", text.nav.experiments],
  ["/agents", text.nav.agents],
  ["/evaluations", text.nav.evaluations],
  ["/connect", text.nav.connect],
  ["/settings", text.nav.settings],
  ["/operator", text.nav.operator, "service:any_user"],
];

function isShown(location: string, page: string): boolean {
  return !location.startsWith("~") && sectionOf(location) === sectionOf(page);
}

function InboxCount() {
  const waiting = useQuery(inbox({ archived: false })).data?.total ?? 0;
  return waiting > 0 ? <span class="nav-count figure">{waiting}</span> : null;
}

function ThemeSwitch() {
  const [value, setValue] = useState(theme());
  const change = (next: Theme) => {
    setTheme(next);
    setValue(next);
  };
  return (
    <select
      class="nav-theme"
      aria-label={text.nav.colours}
      value={value}
      onChange={(event) => change(THEMES.find((each) => each === event.currentTarget.value) ?? "auto")}
    >
      {THEMES.map((each) => (
        <option key={each} value={each}>
          {text.nav.theme[each]}
        </option>
      ))}
    </select>
  );
}

/** One that fails is said: the session is still there. */
function LogOut() {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => answer(api.DELETE("/api/v1.0/session")),
    onSuccess: () => showLoggedOut(client),
  });
  return (
    <>
      <Button kind="quiet" disabled={end.isPending} onClick={() => end.mutate()}>
        {text.nav.logOut}
      </Button>
      {end.error && <Fault error={end.error} />}
    </>
  );
}

function KeySwitch() {
  const [isOn, setIsOn] = useState(keysAreOn());
  const change = (next: boolean) => {
    switchKeys(next);
    setIsOn(next);
  };
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => change(event.currentTarget.checked)} /> {text.help.off}
    </label>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  const guide = guideOf(useLocation()[0]);
  return (
    <Dialog title={text.help.title} onClose={onClose}>
      <dl class="keys">
        {text.help.rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <KeySwitch />
      <p class="actions">
        <Link href={guide ?? "~/docs/guide"} onClick={onClose}>
          {guide ? text.guide.help : text.guide.title}
        </Link>
        <Link href="/licenses" onClick={onClose}>
          {text.nav.licenses}
        </Link>
      </p>
    </Dialog>
  );
}

function useShellKeys(onHelp: () => void): void {
  const [, navigate] = useLocation();
  useKeySequence("g", {
    t: () => navigate("/"),
    i: () => navigate("/inbox"),
    e: () => navigate("/experiments"),
    a: () => navigate("/agents"),
  });
  const search = () => {
    const field = document.querySelector<HTMLElement>("[role=search] input");
    if (field) field.focus();
    else navigate("/papers", { state: TO_SEARCH });
  };
  useKeys({ "/": search, "?": onHelp });
}

function PageLinks({ scopes }: { scopes: readonly Scope[] }) {
  const [location] = useLocation();
  const hasInbox = scopes.includes("fleet:read");
  return (
    <ul>
      {PAGES.filter(([, , scope]) => !scope || scopes.includes(scope)).map(([page, name]) => (
        <li key={page}>
          <Link href={page} aria-current={isShown(location, page) ? "page" : undefined}>
            {name}
            {page === "/inbox" && hasInbox && <InboxCount />}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The account that is shown, and the others of the person. */
function AccountSwitch({ shown }: { shown: Schemas["Session"]["account"] }) {
  const others = useQuery(accounts).data?.items ?? [];
  const switching = useSwitch();
  if (others.length < 2)
    return (
      <span class="small quiet nav-account" title={shown.name}>
        {shown.name}
      </span>
    );
  return (
    <>
      <Chooser
        label={text.nav.account}
        action={text.nav.switch}
        current={shown.id}
        values={others.map(({ id, name }) => [id, name] as const)}
        isBusy={switching.isPending}
        style="nav-theme"
        onChoose={(id) => switching.mutate(id)}
      />
      {switching.error && <Fault error={switching.error} />}
    </>
  );
}

function Account({ shown }: { shown: Schemas["Session"]["account"] }) {
  return (
    <>
      <AccountSwitch shown={shown} />
      <ThemeSwitch />
      <LiveSwitch />
      <LogOut />
    </>
  );
}

interface NavProps {
  session: Schemas["Session"] | null;
  onHelp: () => void;
}

/** Where to go, and what is the same on each page. A narrow window shows it when it is wanted. */
function Nav({ session, onHelp }: NavProps) {
  const isNarrow = useNarrow();
  const [location] = useLocation();
  const [opened, setOpened] = useState<string | null>(null); // the page on which it was opened
  const isOpen = !isNarrow || opened === location;
  return (
    <nav class="nav" aria-label={text.nav.label}>
      <span class="nav-product">{text.product}</span>
      {isNarrow && (
        <Button expanded={isOpen} onClick={() => setOpened(isOpen ? null : location)}>
          {text.nav.menu}
        </Button>
      )}
      {isOpen && (
        <>
          {session && <PageLinks scopes={session.scopes} />}
          <div class="nav-end">
            <Link href="~/docs/guide">{text.guide.title}</Link>
            <Link href="~/docs">{text.nav.docs}</Link>
            <Button kind="quiet" onClick={onHelp}>
              {text.help.open}
            </Button>
            {session ? <Account shown={session.account} /> : <Link href="/">{text.login.submit}</Link>}
          </div>
        </>
      )}
    </nav>
  );
}

interface Props {
  session: Schemas["Session"] | null; // null: only on pages that need none
  children: ComponentChildren;
}

/** What every page stands in: navigation, the account, help. */
export function Shell({ session, children }: Props) {
  const [hasHelp, setHasHelp] = useState(false);
  const help = () => setHasHelp(true);
  useShellKeys(help);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {text.skip}
      </a>
      <Nav session={session} onHelp={help} />
      <main id="content" class="content">
        <Silence />
        {children}
      </main>
      {hasHelp && <Help onClose={() => setHasHelp(false)} />}
    </div>
  );
}
