#include "pacing/backoff.h"

#include "base/base.h"
#include "crypto/crypto.h"

/* A random number from 0 to `bound`. */
static uint64_t random_up_to(uint64_t bound)
{
	uint32_t number;
	random_bytes(&number, sizeof(number));
	return number % (bound + 1);
}

uint64_t backoff_ms(unsigned failures, uint64_t base_ms, uint64_t max_ms)
{
	uint64_t full = base_ms;
	for (unsigned i = 1; i < failures && full < max_ms; i++)
		full *= 2;
	full = MIN_OF(full, max_ms);
	return full / 2 + random_up_to(full / 2);
}

uint64_t jitter_ms(uint64_t ms)
{
	return ms * 4 / 5 + random_up_to(ms * 2 / 5);
}
