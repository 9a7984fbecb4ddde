import type { Schemas } from "../../api/client";
import { teamText } from "./text";

export type Role = Schemas["Role"];

const NAMES = ["owner", "admin", "member", "viewer"] as const;

/** The roles that somebody with a role may give, with what they may do. */
export function rolesFor(own: Role): (readonly [Role, string])[] {
  return NAMES.filter((role) => own === "owner" || role !== "owner").map((role) => [role, teamText.roles[role]] as const);
}
