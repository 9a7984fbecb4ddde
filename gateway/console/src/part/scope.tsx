import { useQuery } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";

import type { Schemas } from "../api/client";
import { session } from "../api/session";

type Scope = Schemas["Scope"];

/** Whether the session may do what needs the scope; controls for the rest are absent. */
export function useScope(scope: Scope): boolean {
  return useQuery(session).data?.scopes.includes(scope) ?? false;
}

interface Props {
  scope: Scope;
  children: ComponentChildren;
}

/** Controls for what needs the scope. */
export function May({ scope, children }: Props) {
  return useScope(scope) ? <>{children}</> : null;
}
