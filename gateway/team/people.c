#include "team/people.h"

#include "crypto/uuid.h"
#include "input/input.h"
#include "input/uuid_list.h"
#include "json/json.h"
#include "people.sql.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"

#define IDS_MAX   100
#define ID_LENGTH 64 /* longer ones are refused before they are read */

struct people_input {
	const char *ids; /* JSON array of texts */
};

static const struct field QUERY_FIELDS[] = {
	QUERY_TEXT(struct people_input, ids, "ids", REQUIRED | REPEATED, 1,
                   IDS_MAX *(UUID_TEXT_LEN + 1)),
	FIELD_END,
};

static const struct field BODY_FIELDS[] = {
	BODY_STRINGS(struct people_input, ids, "ids", REQUIRED, 1, IDS_MAX, ID_LENGTH),
	FIELD_END,
};

static void reply_people(struct request *rq, const struct people_input *in)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = uuid_list_read(rq, doc, in->ids);
	if (!ids || yyjson_mut_arr_size(ids) > IDS_MAX)
		raise_field(rq, "ids", "must be 1 to %d ids of persons or keys", IDS_MAX);
	struct pg_rows *rows = pg_query(rq, PEOPLE_FIND_SQL, pg_uuid(rq->caller.account),
	                                pg_text(json_write_mut(rq->arena, ids, NULL)));
	reply_json(rq, 200, pg_json(rows));
}

void people_list(struct request *rq)
{
	reply_people(rq, request_input(rq, struct people_input, QUERY_FIELDS));
}

void people_find(struct request *rq)
{
	reply_people(rq, request_input(rq, struct people_input, BODY_FIELDS));
}
