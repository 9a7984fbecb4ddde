/** The member `sources` of a body: names of sources of papers. */
#pragma once

#include "loop/request.h"

/** Whether papers have a source of this name: `arxiv`. */
bool paper_source_is_known(const char *name);

/** Note the faults of the member's items. To be called before request_input(), which raises them.
 * Suspends and raises as request_body(). */
void request_check_paper_sources(struct request *rq);
