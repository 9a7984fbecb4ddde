/** A problem as a page, for an operation to which a link leads: a person reads the answer. It has
 * the same status as the problem document (json/problem.h). */
#pragma once

#include "loop/request.h"

#include <stdbool.h>

/** From now on, answer a problem of this request with a page that links to `back`, a path of this
 * origin, if the client prefers one. Borrows. */
void problem_page_allow(struct request *rq, const char *back);

/** For reply_problem(): whether the problem is answered with a page; then it is replied. */
bool problem_page_reply(struct request *rq);
