/** Research assets: read, list, store. */
#pragma once

#include "loop/request.h"

void asset_get(struct request *rq);
void asset_list(struct request *rq);
void asset_put(struct request *rq);
void asset_stats(struct request *rq);
