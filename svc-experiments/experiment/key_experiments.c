#include "experiment/key_experiments.h"

#include "client/service_ask.h"
#include "experiment/experiment.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "key_experiments.sql.h"
#include "pg/pg.h"
#include "reply/reply.h"

#include <string.h>
#include <strings.h>

struct access_input {
	const char *id, *repo, *interest;
};

static const struct field ACCESS_FIELDS[] = {
	BODY_UUID(struct access_input, id, "experiment_id", REQUIRED),
	BODY_TEXT(struct access_input, repo, "repo", NULLABLE, 1, REPO_MAX),
	BODY_UUID(struct access_input, interest, "interest_id", NULLABLE),
	FIELD_END,
};

/* What decides whose an experiment is; NULL: it has none. */
struct place {
	const char *repo, *project;
};

const char *key_project(struct request *rq)
{
	if (!rq->caller.interest)
		return NULL;
	yyjson_val *interest =
		service_ask_found(rq, INTERNAL_ID_interest_pool_get,
	                          ASK_BODY(rq, {"interest_id", rq->caller.interest}));
	return json_get_text(interest, "project_id");
}

static bool is_key_project(struct request *rq, const char *project)
{
	const char *own = project ? key_project(rq) : NULL;
	return own && strcasecmp(own, project) == 0;
}

/* Whether the experiment is the key's. Raises ERR_FORBIDDEN: it is of another repository. */
static bool is_own(struct request *rq, const struct place *place)
{
	if (rq->caller.repo && place->repo) {
		require_repo(rq, place->repo);
		return true;
	}
	return is_key_project(rq, place->project);
}

/* False: there is no such experiment. */
static bool read_place(struct request *rq, const char *sql, const char *id, struct place *ret_place)
{
	struct pg_rows *rows = pg_query(rq, sql, pg_text(id), pg_uuid(rq->caller.account));
	if (pg_empty(rows))
		return false;
	*ret_place = (struct place){pg_get(rows, 0, "repo"), pg_get(rows, 0, "project_id")};
	return true;
}

/* The place of the key's experiment. False: there is no such experiment. */
static bool find(struct request *rq, const char *id, struct place *ret_place)
{
	if (!read_place(rq, KEY_EXPERIMENT_SQL, id, ret_place))
		return false;
	if (!is_own(rq, ret_place))
		raise_error(rq, ERR_NOT_FOUND, EXPERIMENT_MISSING);
	return true;
}

void key_require_experiment(struct request *rq, const char *id)
{
	struct place place;
	if (key_is_limited(rq))
		find(rq, id, &place);
}

static bool is_same(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

/* Keep the place of the experiment as it was seen, until the transaction ends. It was looked at
 * without one, since the project may have had to be asked for. */
static void hold(struct request *rq, const char *id, const struct place *seen)
{
	struct place held;
	pg_begin(rq);
	if (!read_place(rq, KEY_EXPERIMENT_HOLD_SQL, id, &held) ||
	    !is_same(held.repo, seen->repo) || !is_same(held.project, seen->project))
		raise_error(rq, ERR_CONTENTION, "the experiment was changed meanwhile");
}

void key_hold_experiment(struct request *rq, const char *id)
{
	struct place place;
	if (key_is_limited(rq) && find(rq, id, &place))
		hold(rq, id, &place);
}

/* Change the place as the body says. Raises ERR_FORBIDDEN: to a project that is not the key's. */
static void change(struct request *rq, struct place *place)
{
	yyjson_val *context = yyjson_obj_get(rq->http->json, "launch_context");
	yyjson_val *project = yyjson_obj_get(rq->http->json, "project_id");
	if (context) {
		const char *repo = json_get_text(context, "target_repo");
		place->repo = repo && *repo ? repo : NULL;
	}
	if (!project)
		return;
	const char *named = yyjson_get_str(project);
	bool is_new = named && (!place->project || strcasecmp(named, place->project) != 0);
	if (is_new && !is_key_project(rq, named))
		raise_error(rq, ERR_FORBIDDEN, "the key is limited to the project of its interest");
	place->project = named;
}

void key_require_change(struct request *rq, const char *id)
{
	struct place place = {0}, seen;
	if (!key_is_limited(rq) || (id && !find(rq, id, &place)))
		return;
	seen = place;
	change(rq, &place);
	if (!is_own(rq, &place))
		raise_error(rq, ERR_FORBIDDEN,
		            "the key is limited: the experiment must have its repository as "
		            "target_repo, or be in the project of its interest");
	if (id)
		hold(rq, id, &seen);
}

void key_experiment_access(struct request *rq)
{
	struct access_input *in = request_input(rq, struct access_input, ACCESS_FIELDS);
	struct place place;
	rq->caller.repo = in->repo; /* the service asks for a key with these limits */
	rq->caller.interest = in->interest;
	if (!find(rq, in->id, &place))
		raise_error(rq, ERR_NOT_FOUND, EXPERIMENT_MISSING);
	reply_json(rq, 200, ASK_BODY(rq, {"experiment_id", in->id}));
}
