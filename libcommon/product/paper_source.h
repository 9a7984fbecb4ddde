/** Which source a paper is of, by its id: one of arXiv has no colon (`2205.14135`), one of another
 * source has its name before it (`biorxiv:10.1101/2026.11.20.123456`). */
#pragma once

#include <string.h>

/** The `source_type` of an experiment that is made from the paper. */
static inline const char *paper_source_type(const char *arxiv_id)
{
	if (strncmp(arxiv_id, "biorxiv:", strlen("biorxiv:")) == 0)
		return "biorxiv_paper";
	if (strncmp(arxiv_id, "medrxiv:", strlen("medrxiv:")) == 0)
		return "medrxiv_paper";
	return "arxiv_paper";
}
