/** Reverts that a pull request or a commit tells of, by the words that the code host's button and
 * `git revert` write. One that somebody makes by hand without these words is not noticed. */
#pragma once

#include <yyjson.h>

#define REVERTS_MAX 20 /* of an event; others are left out */

/** Add {"target": "#7", "by"} for each line `Reverts #7` or `Reverts OWNER/REPO#7`, if that is
 * `repo`, and {"target": SHA, "by"} for each line `This reverts commit SHA.` of the text. Copies;
 * `text` may be NULL. */
void reverts_add(yyjson_mut_doc *doc, yyjson_mut_val *reverts, const char *text, const char *repo,
                 const char *by);
