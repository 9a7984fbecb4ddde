/** Reads answers of bioRxiv's API of details, which medRxiv has, too:
 *
 *     {"messages": [{"status": "ok", "cursor": 0, "count": 100, "total": "612"}],
 *      "collection": [{"doi": "10.1101/2026.11.20.123456", "title": "…", "authors": "Byron, A. B.; Team",
 *                      "date": "2026-11-24", "version": "2", "license": "cc_by",
 *                      "category": "cell biology", "abstract": "…"}]}
 *
 * Source: https://api.biorxiv.org/. It does not say which numbers are strings, nor what `status` is
 * where there are no posts: as seen in practice, `no posts found` without a `collection`. Nor does
 * it say whether `total` counts the posts of a category alone: it ends no list. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "harvest/source.h"

#include <stddef.h>

/** Read a page of the server `name`, `biorxiv`; everything is in the arena. Its token is the offset
 * of the next page. Each version of a paper is an item; of several, the record is the highest one.
 * published_at_ms is that of version 1, and 0 where the page has only later ones. A page without
 * items whose `status` tells of a fault is a refusal.
 * ERR_MALFORMED: it is not JSON, or not such an answer; *ret_why says why. */
enum err_code biorxiv_parse(struct arena *arena, const char *name, const char *json, size_t length,
                            struct source_page *ret_page, const char **ret_why);
