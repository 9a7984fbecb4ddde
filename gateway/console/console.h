/** gateway/console/: the web pages of the product. src/ is built by build.mjs into a folder of
 * files; this header has their reading and sending.
 *
 * All files are in memory, with what their compression gave at build time, so no disk is read
 * while requests are answered, and a path that is not in the manifest does not exist. Names of
 * assets have a hash of their content and may be kept for ever; the page itself is asked for each
 * time, and usually answered with 304.
 *
 *     /                  a redirect to /console/ for browsers, links as JSON for others
 *     /console/NAME.EXT  and /console/assets/...: a file
 *     /console/...       any other path: the page, which finds out what to show
 *     /docs, /docs/...   the same page: the API, and the guide
 */
#pragma once

#include "base/arena.h"
#include "base/config.h"
#include "base/error.h"
#include "http/server.h"

#include <stdbool.h>

struct console;

/** CONSOLE_DIR, CODE_HOST_WEB_URL. */
extern const struct setting CONSOLE_SETTINGS[];

/** Read the files of CONSOLE_DIR. NULL after a log line: there is no console, because it was built
 * without Node. Lives as long as the arena. */
const struct console *console_load(struct arena *arena);

/** Whether the request is for the console, or for the root. */
bool console_has_path(const struct http_head *head);

/** Answer such a request. `console` may be NULL. An error is returned and nothing was sent:
 *
 * ERR_METHOD: it is neither GET nor HEAD; ERR_NOT_FOUND: there is no such file, or no console. */
enum err_code console_respond(const struct console *console, struct http_exchange *x,
                              const char *request_id);
