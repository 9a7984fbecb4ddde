/** The JSON of a digest, made of the rows of digest_get. */
#pragma once

#include "base/arena.h"
#include "pg/pg.h"
#include "recommended/recommended_paper.h"

/** What a digest is made of. */
struct digest {
	const struct pg_rows *rows;       /* of digest_get */
	const struct paper_json **papers; /* of the rows (recommended/recommended_paper.h) */
	const char *period;               /* that was asked for */
	const char *source_type;          /* that was asked for; NULL: all */
};

/** There is a row for each paper, and one for each interest without papers, those of an interest
 * together; if there is no interest, one without. Uses no request, so it can run on the thread
 * pool. In the arena. */
struct buf digest_json(struct arena *arena, const struct digest *digest);
