#include "api/harvest_request.h"

#include "harvest/harvester.h"
#include "harvest/source.h"
#include "harvest_request.sql.h"
#include "input/input.h"
#include "pg/pg.h"
#include "product/paper_source.h"
#include "reply/reply.h"

#include <string.h>

#define SETS_MAX 200

struct harvest_input {
	const char *source;
	const char *set;
	const char *from; /* NULL: where the last harvest of the set ended */
};

static const char *const SOURCE_NAMES[] = {PAPER_SOURCES(PAPER_SOURCE_NAME) NULL};

static const struct field FIELDS[] = {
	BODY_ENUM(struct harvest_input, source, "source", REQUIRED, SOURCE_NAMES),
	BODY_TEXT(struct harvest_input, set, "set", REQUIRED | TRIMMED, 1, 100),
	BODY_DATE(struct harvest_input, from, "from", NULLABLE),
	FIELD_END,
};

/* `cs:cs:LG`: what OAI-PMH allows as a setSpec, but for a few signs that no set has. The categories
 * of bioRxiv have no others: `cell_biology`. */
static bool is_set(const char *text)
{
	static const char SIGNS[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
	return strspn(text, SIGNS) == strlen(text);
}

void harvest_request(struct request *rq)
{
	struct harvest_input *in = request_input(rq, struct harvest_input, FIELDS);
	if (!is_set(in->set))
		raise_field(rq, "set",
		            "must be a set such as cs or cs:cs:LG, of bioRxiv and medRxiv "
		            "cell_biology or all");
	if (!harvester_is_on())
		raise_error(rq, ERR_NOT_CONFIGURED, "HARVEST_SETS is empty");
	struct pg_rows *rows = pg_query(rq, HARVEST_REQUEST_SQL, pg_text(in->source),
	                                pg_text(in->set), pg_text(in->from), pg_int(SETS_MAX));
	if (!pg_get_bool(rows, 0, "is_due"))
		raise_error(rq, ERR_CONFLICT, "%s", pg_get(rows, 0, "reason"));
	reply_json(rq, 200, "{\"queued\": true}");
}
