#include "key/role.h"

#include "base/base.h"
#include "key/preset.h"

#include <string.h>

#define USER_SCOPES (SCOPE_ALL & ~SCOPE_OPERATOR)

#define MEMBER_WRITES                                                                         \
	(SCOPE_BIT_OF(EXPERIMENTS_WRITE) | SCOPE_BIT_OF(IMPLEMENT_WRITE) |                    \
	 SCOPE_BIT_OF(INTERESTS_WRITE) | SCOPE_BIT_OF(RECOMMENDATIONS_WRITE) |                \
	 SCOPE_BIT_OF(FLEET_WRITE) | SCOPE_BIT_OF(FLEET_TRIGGER) | SCOPE_BIT_OF(EVAL_WRITE) | \
	 SCOPE_BIT_OF(PROVISIONING_WRITE) | SCOPE_BIT_OF(CODE_HOST_WRITE) |                   \
	 SCOPE_BIT_OF(ACCOUNT_WRITE))

const char *const ROLE_NAMES[] = {"owner", "admin", "member", "viewer", NULL};

static const uint64_t ROLE_SCOPES[] = {
	USER_SCOPES,
	USER_SCOPES,
	ROLE_READS | MEMBER_WRITES,
	ROLE_READS | SCOPE_BIT_OF(ACCOUNT_WRITE),
};

_Static_assert(ARRAY_LEN(ROLE_NAMES) == ARRAY_LEN(ROLE_SCOPES) + 1, "each role has scopes");

uint64_t role_scopes(const char *name, bool is_operator)
{
	for (size_t i = 0; ROLE_NAMES[i]; i++)
		if (strcmp(ROLE_NAMES[i], name) == 0)
			return ROLE_SCOPES[i] | (is_operator ? SCOPE_OPERATOR : SCOPE_NONE);
	return SCOPE_NONE;
}

uint64_t role_grants(const char *name, enum key_kind kind)
{
	uint64_t scopes = role_scopes(name, false);
	bool sets_up_agents = kind == KEY_AUTOMATION && scopes & SCOPE_BIT_OF(PROVISIONING_WRITE);
	return scopes | (sets_up_agents ? preset_scopes("automation") : SCOPE_NONE);
}
