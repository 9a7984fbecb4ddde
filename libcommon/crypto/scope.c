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

static uint64_t mask_of(const char *name, size_t length)
{
	for (unsigned bit = 0; bit < SCOPE_COUNT; bit++)
		if (strlen(SCOPES[bit].name) == length &&
		    memcmp(SCOPES[bit].name, name, length) == 0)
			return UINT64_C(1) << bit;
	return SCOPE_NONE;
}

uint64_t scope_mask(const char *name)
{
	return mask_of(name, strlen(name));
}

uint64_t scope_masks(const char *names)
{
	uint64_t masks = SCOPE_NONE;
	while (*names) {
		size_t length = strcspn(names, " ");
		masks |= mask_of(names, length);
		names += length + strspn(names + length, " ");
	}
	return masks;
}
