/** Papers as this service's database hands them out, for code that computes.
 *
 *     [{"arxiv_id":"2205.14135","title":"…","abstract":"…","categories":["cs.LG"],
 *       "published_at":"2022-05-27T17:53:09.000Z","has_container":false,
 *       "github_url":"https://github.com/…","vector":"<base64>","scale":0.01,"model":"3-200",
 *       "relevance":0.8,"matched":["attention"],"signal":"like","index":0}]
 *
 * A vector is one signed byte a dimension, times `scale`; vectors of two models do not compare.
 * Members may be missing. */
#pragma once

#include "preference/features.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paper {
	const char *arxiv_id; /* NULL: in no index */
	int64_t index;        /* place among what was sent, where there is no arxiv_id */
	struct paper_text text;
	double age_days; /* since it came out; NaN: not known */
	bool has_container;
	const char *code_url;       /* of the authors' code; NULL: not known */
	double relevance;           /* 0..1, to the interest */
	const char *const *matched; /* words that brought it, the most telling first */
	size_t matched_count;
	const char *signal;              /* what a reader gave; NULL: nothing */
	const struct bag *bag;           /* made by judge.h, as the next */
	const struct features *features; /* NULL until then */
};

struct paper_list {
	struct paper *papers;
	size_t count;
};

/** Read the array in `json`, NUL-terminated, at the time `now_ms`. Copies into `arena`. What is not
 * of that form is an empty list. */
struct paper_list papers_read(struct arena *arena, const char *json, int64_t now_ms);
