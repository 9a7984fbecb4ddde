/** Papers as others write them down, read into the one form that is stored. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

/** What a source says of a paper, before it is checked. Borrowed; NULL: not said. */
struct metadata {
	const char *id;
	const char *title;
	const char *abstract;
	const char *const *authors; /* one name each */
	size_t author_count;
	const char *categories; /* separated by white space, the primary one first */
	int64_t published_at_ms, updated_at_ms; /* 0: not said */
	const char *github_url;
	const char *license;
};

/** A row for ASSET_IMPORT_SQL in `doc`: id canonical, white space single, a code repository taken
 * from the abstract where it names one. NULL when the paper cannot be stored; *ret_why says why, in
 * the arena. */
yyjson_mut_val *metadata_row(struct arena *arena, yyjson_mut_doc *doc, const struct metadata *paper,
                             const char **ret_why);

/** Read one line of arXiv's metadata snapshot (`id`, `title`, `abstract`, `authors` or
 * `authors_parsed`, `categories` as text, `versions`, `update_date`, `license`) or of a corpus
 * (`_id`, `title`, `text`, `authors` and `categories` as arrays, `published_at`).
 * ERR_INVALID: neither, or a member of another type; *ret_why says which. Borrows from `line`. */
enum err_code metadata_read(struct arena *arena, yyjson_val *line, struct metadata *ret_paper,
                            const char **ret_why);

/** `text` with runs of white space made one space and none at the ends, in the arena. */
char *metadata_squeeze(struct arena *arena, const char *text);
