/** Why a run ended as it did, by rules over its record. Pure logic: neither HTTP nor SQL.
 *
 * The first rule that applies gives the cause and the next step; the evidence is what the run
 * reported, each line naming the field that it is from. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

/** What the rules look at; struct run_record has the same members. */
struct analysis_source {
	yyjson_val *record;
	yyjson_val *gates;
	const char *stage; /* NULL: nothing was opened */
};

struct analysis {
	const char *cause;        /* one sentence */
	const char *next_step;    /* one sentence */
	yyjson_mut_val *evidence; /* array of texts: `test_status: failed` */
};

/** Analyse a run. Texts are static or in the arena. */
struct analysis run_analysis(struct arena *arena, yyjson_mut_doc *doc,
                             const struct analysis_source *source);
