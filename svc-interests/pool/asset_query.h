/** Asks svc-search about papers. Both functions suspend, return what service_call() returns, and
 * ERR_UPSTREAM when the status is not 200. */
#pragma once

#include "loop/request.h"

/** POST `body` to an internal route of svc-search that only reads. Its answer is in `*ret_json`. */
enum err_code asset_query(struct request *rq, const char *path, const char *body,
                          const char **ret_json);

/** Get the papers whose ids are in the JSON array `ids_json`. */
enum err_code asset_lookup(struct request *rq, const char *ids_json, const char **ret_json);
