/** Replying with a list of papers in the form that the client prefers. */
#pragma once

#include "loop/request.h"

/** Reply 200 with the papers of a JSON array: as they are, or as BibTeX or RIS (product/citation.h)
 * when the request's Accept prefers `application/x-bibtex` or
 * `application/x-research-info-systems`. `member` names the member of an item that is its paper;
 * NULL: the item itself. Adds Vary, and for a GET of the other forms an ETag. Raises
 * ERR_NOT_ACCEPTABLE. */
void reply_papers(struct request *rq, const char *json_array, const char *member);
