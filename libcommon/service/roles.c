#include "service/roles.h"

#include "base/base.h"

#include <string.h>

/* The member that the name sets; NULL: it is no role. */
static bool *member_of(struct roles *roles, const char *name, size_t length)
{
	const struct {
		const char *name;
		bool *member;
	} rows[] = {{"http", &roles->has_http}, {"jobs", &roles->has_jobs}};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
			return rows[i].member;
	return NULL;
}

enum err_code roles_parse(const char *text, struct roles *ret_roles)
{
	struct roles roles = {0};
	for (;; text++) {
		size_t length = strcspn(text, ",");
		bool *member = member_of(&roles, text, length);
		if (!member || *member)
			return ERR_INVALID;
		*member = true;
		text += length;
		if (!*text)
			break;
	}
	*ret_roles = roles;
	return ERR_NONE;
}
