#include "evidence/verdict_count.h"

#include <string.h>

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static size_t is(const char *verdict, const char *name)
{
	return verdict && strcmp(verdict, name) == 0;
}

void verdict_add(struct verdict_count *count, const char *verdict)
{
	count->worked += is(verdict, "worked");
	count->failed += is(verdict, "failed");
	count->pending += is(verdict, "pending");
}

const char *verdict_of_pull_request(const char *stage, int64_t closed_ms, int64_t now_ms)
{
	if (is(stage, "closed"))
		return "failed";
	if (is(stage, "merged") && now_ms - closed_ms >= KEPT_DAYS * DAY_MS)
		return "worked";
	return "pending";
}

const char *verdict_of_paper(const struct verdict_count *count)
{
	if (count->worked && count->failed)
		return "mixed";
	if (count->worked)
		return "worked";
	if (count->failed)
		return "failed";
	return count->pending ? "pending" : "untried";
}
