import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";

import { guideOf } from "./shell/guide";
import { text } from "../text";

/** To what the guide says about this page. */
function Help() {
  const [location] = useLocation();
  const address = guideOf(location);
  return address ? (
    <Link class="page-help" href={address} aria-label={text.guide.help} title={text.guide.help}>
      ?
    </Link>
  ) : null;
}

interface Props {
  title: string;
  actions?: ComponentChildren;
  wide?: boolean;
  children: ComponentChildren;
}

/** A page: its one h1, which gets the focus when the page is opened, unless a part of the page has taken it, and its
 * title. */
export function Page({ title, actions, wide = false, children }: Props) {
  const page = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – ${text.product}`;
  }, [title]);
  useEffect(() => {
    if (!page.current?.contains(document.activeElement)) head.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div ref={page} class={wide ? "page page-wide" : "page"}>
      <header class="page-head">
        <div class="page-title">
          <h1 ref={head} tabIndex={-1}>
            {title}
          </h1>
          <Help />
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
