/** What became of those who tried a paper, and of the paper: `worked`, `failed` or `pending`. */
#pragma once

#include "evidence/graph.h"

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

/** The verdict on a pull request that the graph has. One that was reverted is as good as closed
 * until it is merged again, which counts from then on. */
const char *trial_of_pull_request(const struct graph *graph, const char *url);

/** The verdict on an experiment. What a person decided counts first, then what the code host told
 * of its pull request, then what the experiment says of that.
 *
 *     url         of its pull request; NULL: it names none
 *     is_decided  by a person
 *     own         the verdict by what the experiment alone knows */
const char *trial_of_experiment(const struct graph *graph, const char *url, bool is_decided,
                                const char *own);

/** `worked`, `failed`, `mixed`, `pending`, or `untried` where nothing was counted. */
const char *verdict_of_paper(const struct verdict_count *count);
