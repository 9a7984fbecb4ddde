/** Which experiments are shown: the filter is in the address. */
import type { ExperimentFilter } from "./queries";
import { STATUSES } from "./words";

export function filterOf(address: URLSearchParams): ExperimentFilter {
  return {
    status: STATUSES.find((each) => each === address.get("status")),
    project_id: address.get("project") ?? undefined,
    tag: address.get("tag") ?? undefined,
  };
}

export function addressOf({ status, project_id: project, tag }: ExperimentFilter): Record<string, string> {
  return { ...(status ? { status } : {}), ...(project ? { project } : {}), ...(tag ? { tag } : {}) };
}

export const isFiltered = (filter: ExperimentFilter) => Object.values(filter).some((value) => value !== undefined);

/** The list in the API, as the filter narrows it. */
export function pathOf(filter: ExperimentFilter): string {
  const query = new URLSearchParams(Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined));
  return `/api/v1.0/experiments${query.size > 0 ? `?${query.toString()}` : ""}`;
}
