/** svc-integrations/notify/format/: what a message says, and its forms.
 *
 *     content.c  what it says, the same in every form
 *     slack.c    Slack's form
 *     email.c    a mail
 *     html.c     texts of others in HTML
 *
 * A message (notify/message.h) says what happened, by a sentence for each type (SENTENCES in
 * content.c), and which papers came with it. All texts but the words of sentences are of others:
 * each form escapes them. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

#include <stddef.h>

#define CONTENT_AUTHORS_MAX 3
#define CONTENT_ACTIONS     3

/** A link that opens the console, which asks and then rates: no link rates by itself, since chat
 * and mail programs fetch links. */
struct content_action {
	const char *words, *url;
};

struct content_paper {
	const char *title;
	const char *url;                              /* NULL: unknown */
	const char *score;                            /* `high (0.80)` */
	const char *authors[CONTENT_AUTHORS_MAX + 1]; /* and NULL */
	const char *reason;                           /* NULL: none */
	const char *interest; /* in a digest, of the first paper of each; NULL: as before */
	struct content_action actions[CONTENT_ACTIONS];
	size_t action_count;
};

struct content {
	const char *type;
	const char *sentence;
	const char *url; /* of the console's page; NULL: none */
	struct content_paper *papers;
	size_t paper_count;
	size_t all_papers;   /* of which `papers` are the first */
	const char *message; /* of a digest without papers; NULL: none */
};

/** What a message says, by its body; `public_url` is what links to the console begin with. In the
 * arena. */
struct content content_read(struct arena *arena, const char *message, const char *public_url);
