/** Metadata of a paper, from any source, and its conversion to the stored form. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "json/json.h"

/** A paper as a source gives it, unchecked. Borrows. NULL: not given. */
struct metadata {
	const char *id;
	const char *title;
	const char *abstract;
	const char *const *authors; /* full names */
	size_t author_count;
	const char *categories; /* separated by white space, the primary one first */
	int64_t published_at_ms, updated_at_ms; /* 0: not given */
	const char *github_url;
	const char *license;
	const char *comments;
	const char *doi; /* `10.1103/PhysRev.47.777`; of several, the first counts */
};

/** Make a row for ASSET_IMPORT_SQL in `doc`: with the canonical id, white space collapsed, and, if
 * github_url is not given, the first GitHub repository that the abstract names, else the comments;
 * texts in their plain form beside their source (plain/plain_text.h). Returns NULL when the paper
 * is invalid; *ret_why says why, in the arena. */
yyjson_mut_val *metadata_row(struct arena *arena, yyjson_mut_doc *doc, const struct metadata *paper,
                             const char **ret_why);

/** Read one line of arXiv's metadata snapshot (`id`, `title`, `abstract`, `authors` or
 * `authors_parsed`, `categories` as text, `versions`, `update_date`, `license`, `comments`) or of a
 * retrieval corpus (`_id`, `title`, `text`, `authors` and `categories` as arrays, `published_at`).
 * Borrows from `line`. ERR_INVALID: it is neither, or a member has the wrong type; *ret_why says
 * which. */
enum err_code metadata_read(struct arena *arena, yyjson_val *line, struct metadata *ret_paper,
                            const char **ret_why);

/** A full name, "Edward J. Hu Jr.", from its parts, each of which may be NULL. In the arena. */
char *metadata_author_name(struct arena *arena, const char *given, const char *family,
                           const char *suffix);

/** `text` with each run of white space replaced by one space, and none at the ends. In the
 * arena. */
char *metadata_collapse_space(struct arena *arena, const char *text);
