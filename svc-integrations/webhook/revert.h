/** Reverts that a pull request or a commit tells of, by the words that the code host's button and
 * `git revert` write. One that somebody makes by hand without these words is not noticed. */
#pragma once

#include <yyjson.h>

#include <stdbool.h>

#define REVERTS_MAX 20 /* of an event; others are left out */

/** Whether a pull request with this title was made of what `git revert` wrote: `Revert "…"`, or
 * of a revert `Reapply "…"`. Another one may quote the message of a commit. `title` may be NULL. */
bool revert_is_title(const char *title);

/** Add {"target": "#7", "by"} for each line that is `Reverts #7`, or `Reverts OWNER/REPO#7` if that
 * is `repo`; and where the text `is_of_git` {"target": SHA, "by"} for each line `This reverts
 * commit SHA.` Copies; `text` may be NULL. */
void reverts_add(yyjson_mut_doc *doc, yyjson_mut_val *reverts, const char *text, bool is_of_git,
                 const char *repo, const char *by);
