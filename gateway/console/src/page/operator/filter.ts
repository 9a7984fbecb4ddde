/** Which tasks are shown: the filter is in the address. */
import type { Schemas } from "../../api/client";
import type { TaskFilter } from "../../api/queries";

type Status = Schemas["OperatorTask"]["status"];

export const STATUSES: readonly Status[] = ["pending", "running", "completed", "failed", "cancelled"];

export const SERVICES: readonly Schemas["ServiceName"][] = [
  "gateway",
  "svc-experiments",
  "svc-interests",
  "svc-search",
  "svc-fleet",
  "svc-integrations",
  "svc-evalenv",
];

/** An absent status means what failed; in the address, `all` means any. */
export function filterOf(address: URLSearchParams): TaskFilter {
  const word = (name: string) => address.get(name) ?? undefined;
  const status = address.get("status");
  return {
    type: address.get("type") === "event" ? "event" : "task",
    status: status === null ? "failed" : STATUSES.find((each) => each === status),
    service: SERVICES.find((each) => each === address.get("service")),
    kind: word("kind"),
    error: word("error"),
    account_id: word("account_id"),
  };
}

export function addressOf(filter: TaskFilter): Record<string, string> {
  const shown = {
    ...filter,
    type: filter.type === "event" ? "event" : "",
    status: filter.status === "failed" ? "" : (filter.status ?? "all"),
  };
  return Object.fromEntries(Object.entries(shown).filter((entry): entry is [string, string] => Boolean(entry[1])));
}
