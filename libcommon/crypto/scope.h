/** Scopes: the permissions of a key, as bits of a mask. scope.def lists them. */
#pragma once

#include <stdint.h>

enum scope_bit {
#define SCOPE(symbol, name, description) SCOPE_BIT_##symbol,
#include "scope.def"
#undef SCOPE
	SCOPE_COUNT
};

#define SCOPE_NONE UINT64_C(0)
#define SCOPE_ALL  ((UINT64_C(1) << SCOPE_COUNT) - 1)

/** The scopes that only an operator's key may have. */
#define SCOPE_OPERATOR \
	((UINT64_C(1) << SCOPE_BIT_SERVICE_ANY_USER) | (UINT64_C(1) << SCOPE_BIT_ASSETS_WRITE))

struct scope_info {
	const char *name;
	const char *description;
};

/** The row of a bit, 0 to SCOPE_COUNT - 1. */
const struct scope_info *scope_info(enum scope_bit bit);

/** The mask of a name; SCOPE_NONE: there is no such scope. */
uint64_t scope_mask(const char *name);

/** The mask of names with a space between them, such as `eval:read eval:write`. What is no scope's
 * name has none. */
uint64_t scope_masks(const char *names);
