/** A message in the form of Slack's incoming webhooks:
 * {"text", "blocks", "unfurl_links": false, "unfurl_media": false}.
 *
 * The first block says what happened; papers follow, each with its score, authors and reason and
 * with links that open the console.
 *
 * Limits of Slack: 3,000 characters of a section, 50 blocks. Users report that beside these a
 * message of about 13,200 characters is refused (`msg_blocks_too_long`), so there are at most 40
 * blocks and 11,000 characters here; what is left out is counted and linked. In every text of
 * others `&`, `<` and `>` are escaped, so that it mentions nobody and is no link. */
#pragma once

#include "notify/format/content.h"

#define SLACK_BLOCKS_MAX     40
#define SLACK_CHARACTERS_MAX 11000

/** A message as the body of a request to Slack. In the arena. */
const char *slack_body(struct arena *arena, const struct content *content);
