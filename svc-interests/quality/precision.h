/** Whether recommendations were right, by what became of the papers and by what people said. */
#pragma once

#include "loop/request.h"

/** GET /papers/recommended/precision: the period begins no earlier than retention_since(). */
void precision_get(struct request *rq);
