/** The sources of papers. A paper's id says which it is of: one of arXiv has no colon
 * (`2205.14135`), one of another source its name before it (`biorxiv:10.1101/2026.11.20.123456`).
 *
 * The table has all of them; tests/unit/tools/test_paper_sources.py compares what says the same in
 * SQL and in the descriptions of the API with it. `X(name)` of each:
 *
 *     static const char *const NAMES[] = {PAPER_SOURCES(PAPER_SOURCE_NAME)};
 */
#pragma once

#include "base/base.h"

#include <string.h>

#define PAPER_SOURCES(X) X("arxiv") PAPER_SOURCES_BUT_ARXIV(X)
#define PAPER_SOURCES_BUT_ARXIV(X) \
	X("biorxiv")               \
	X("medrxiv")

/** For people. */
#define PAPER_SOURCES_TEXT "arxiv, biorxiv or medrxiv"

/** Items of an array: the names, and the values of `source_type` of what is made from a paper, as
 * of an experiment. */
#define PAPER_SOURCE_NAME(name) name,
#define PAPER_SOURCE_TYPE(name) name "_paper",

/** The `source_type` of what is made from the paper. */
static inline const char *paper_source_type(const char *arxiv_id)
{
	static const char *const NAMES[] = {PAPER_SOURCES_BUT_ARXIV(PAPER_SOURCE_NAME)};
	static const char *const TYPES[] = {PAPER_SOURCES_BUT_ARXIV(PAPER_SOURCE_TYPE)};
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		size_t length = strlen(NAMES[i]);
		if (strncmp(arxiv_id, NAMES[i], length) == 0 && arxiv_id[length] == ':')
			return TYPES[i];
	}
	return "arxiv_paper";
}
