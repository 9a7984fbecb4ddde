#include "pacing/failure_pause.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "pacing/backoff.h"

#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 30000

bool failure_pause_is_on(const struct failure_pause *pause)
{
	return time_monotonic_ms() < pause->until_ms;
}

bool failure_pause_failed(struct failure_pause *pause, uint64_t retry_after_ms)
{
	if (failure_pause_is_on(pause))
		return false;
	pause->failures++;
	uint64_t pause_ms = backoff_ms(pause->failures, PAUSE_MIN_MS, PAUSE_MAX_MS);
	pause->until_ms =
		time_monotonic_ms() + MIN_OF(MAX_OF(pause_ms, retry_after_ms), PAUSE_MAX_MS);
	return pause->failures == 1;
}

bool failure_pause_succeeded(struct failure_pause *pause)
{
	bool had_failed = pause->failures > 0;
	*pause = (struct failure_pause){0};
	return had_failed;
}
