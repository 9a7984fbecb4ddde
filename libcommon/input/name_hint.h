/** Which name a client meant when it wrote another one. */
#pragma once

/** The nearer one of two names to `given`: `best` (NULL: none so far) or `candidate`, if it is near
 * enough to be meant. Near is a name with few other letters or another order of two, in which the
 * case does not count: `statsu`, `Status` and `state` are near to `status`; and one that begins
 * with it or that it begins with: `interest` is near to `interest_id`. Borrows. */
const char *name_hint_nearer(const char *given, const char *best, const char *candidate);
