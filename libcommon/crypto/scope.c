#include "crypto/scope.h"

#include "base/base.h"

#include <string.h>

static const struct scope_info SCOPES[] = {
#define SCOPE(symbol, name, description) {name, description},
#include "scope.def"
#undef SCOPE
};

_Static_assert(SCOPE_COUNT < 64, "a mask holds every scope");

const struct scope_info *scope_info(enum scope_bit bit)
{
	require((unsigned)bit < SCOPE_COUNT);
	return &SCOPES[bit];
}

uint64_t scope_mask(const char *name)
{
	for (unsigned bit = 0; bit < SCOPE_COUNT; bit++)
		if (strcmp(SCOPES[bit].name, name) == 0)
			return UINT64_C(1) << bit;
	return SCOPE_NONE;
}
