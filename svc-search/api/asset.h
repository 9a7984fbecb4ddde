/** Research assets, which are papers with what is known about their code: get, list, put, and
 * statistics. */
#pragma once

#include "loop/request.h"

void asset_get(struct request *rq);
void asset_list(struct request *rq);
void asset_put(struct request *rq);
void asset_stats(struct request *rq);
