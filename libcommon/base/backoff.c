#include "base/backoff.h"

#include "base/base.h"
#include "base/crypto.h"

/* 0 to `bound`. */
static uint64_t chance_of(uint64_t bound)
{
	uint32_t chance;
	random_bytes(&chance, sizeof(chance));
	return chance % (bound + 1);
}

uint64_t backoff_ms(unsigned failures, uint64_t base_ms, uint64_t max_ms)
{
	uint64_t full = base_ms;
	for (unsigned i = 1; i < failures && full < max_ms; i++)
		full *= 2;
	full = MIN_OF(full, max_ms);
	return full / 2 + chance_of(full / 2);
}

uint64_t spread_ms(uint64_t ms)
{
	return ms * 4 / 5 + chance_of(ms * 2 / 5);
}
