/** Roles of members, as sets of scopes (crypto/scope.h).
 *
 *     owner   all that a user may do
 *     admin   the same; only an owner deletes the account, and makes and removes owners
 *     member  reads but for audit, endpoints of messages and tokens; writes what the team works on:
 *             experiments, interests, recommendations, runs of agents, evaluations. No connections,
 *             endpoints of messages, budgets and members
 *     viewer  reads the same, and writes nothing but their own keys
 *
 * A request may do what its key and the role of the key's person allow. The two are intersected
 * when the key is looked up (key_check.h), so a change of a role acts as soon as one of a key. A
 * key that belongs to no person is not restricted, nor is an automation key: an agent goes on when
 * the person who set it up leaves. But of the account's keys, sessions, members and invitations it
 * sees and changes what the role of its maker allows at that time (actor() of person.fn.sql).
 */
#pragma once

#include "crypto/identity.h"
#include "crypto/scope.h"

#include <stdbool.h>
#include <stdint.h>

#define SCOPE_BIT_OF(symbol) (UINT64_C(1) << SCOPE_BIT_##symbol)

/** What every member may read. */
#define ROLE_READS                                                                                \
	(SCOPE_BIT_OF(EXPERIMENTS_READ) | SCOPE_BIT_OF(IMPLEMENT_READ) |                          \
	 SCOPE_BIT_OF(INTERESTS_READ) | SCOPE_BIT_OF(RECOMMENDATIONS_READ) |                      \
	 SCOPE_BIT_OF(SEARCH_READ) | SCOPE_BIT_OF(INTEGRATIONS_READ) | SCOPE_BIT_OF(FLEET_READ) | \
	 SCOPE_BIT_OF(CODE_HOST_READ) | SCOPE_BIT_OF(EVAL_READ) | SCOPE_BIT_OF(ACCOUNT_READ) |    \
	 SCOPE_BIT_OF(TEAM_READ))

/** The names of the roles, the highest first, ended by NULL. */
extern const char *const ROLE_NAMES[];

/** The scopes of a role; an operator has those of operators besides. SCOPE_NONE: no such role. */
uint64_t role_scopes(const char *name, bool is_operator);

/** Those that the role's members may give a key: theirs, and an automation key those of an agent
 * where they may set up agents. */
uint64_t role_grants(const char *name, enum key_kind kind);
