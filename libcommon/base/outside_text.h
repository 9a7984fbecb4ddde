/** Texts of others (of papers, users, repositories) in what is written at the code host: Markdown
 * of pull requests and files, and messages of commits. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/** The text so that it is shown as it is and does nothing there: a space of no width (U+200B)
 * stands in what would mention people (`@team`), refer to or close issues (`Closes #1`, `GH-1`,
 * addresses of issues), skip checks (`[skip ci]`, `skip-checks: true`), or be HTML, a link or an
 * image.
 *
 * It does not keep lines apart: quote them (`> `), so that none is read as a heading or a trailer.
 * The workflow of agents has the same rules in svc-interests/workflow/expops.yml, as `inert`.
 *
 * In the arena; `text` may be NULL, then NULL. */
const char *outside_text(struct arena *arena, const char *text);

/** Whether such a space is needed between `text`, of `length` bytes, and the character `next`. */
bool outside_text_is_kept_apart(const char *text, size_t length, char next);
