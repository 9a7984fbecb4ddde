/** How a paper did, from the verdicts of those who tried it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** A merged pull request counts once nobody has changed its stage for so long. */
#define KEPT_DAYS 30

struct verdict_count {
	size_t worked, failed, pending;
};

/** Count a verdict: `worked`, `failed` or `pending`; any other, also NULL, does not count. */
void verdict_add(struct verdict_count *count, const char *verdict);

/** The verdict on a pull request in this stage, `open`, `closed` or `merged`, since `closed_ms`. */
const char *verdict_of_pull_request(const char *stage, int64_t closed_ms, int64_t now_ms);

/** `worked`, `failed`, `mixed`, `pending`, or `untried` where nothing was counted. */
const char *verdict_of_paper(const struct verdict_count *count);
