import { useQuery } from "@tanstack/preact-query";

import type { Schemas } from "../api/client";
import { session } from "../api/queries";

/** Whether the session may do what needs the scope; controls for the rest are absent. */
export function useScope(scope: Schemas["Scope"]): boolean {
  return useQuery(session).data?.scopes.includes(scope) ?? false;
}
