#include "budget/reservation.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "product/agent_pair.h"
#include "reply/reply.h"
#include "run/run.h"

#define ATTEMPTS_MAX 100

struct admit_input {
	const char *run_id; /* JSON text */
	const char *repo, *agent, *provider;
};

static const struct field ADMIT_FIELDS[] = {
	BODY_ID(struct admit_input, run_id, "run_id", REQUIRED, RUN_ID_MAX),
	JSON_INT("run_attempt", REQUIRED, 1, ATTEMPTS_MAX),
	BODY_REPO(struct admit_input, repo),
	BODY_TEXT(struct admit_input, agent, "agent", REQUIRED, 1, AGENT_NAME_MAX),
	BODY_TEXT(struct admit_input, provider, "provider", REQUIRED, 1, AGENT_NAME_MAX),
	JSON_TEXT("model", NULLABLE, 1, 200),
	FIELD_END,
};

void run_admit(struct request *rq)
{
	struct admit_input *in = request_input(rq, struct admit_input, ADMIT_FIELDS);
	run_require_key(rq, in->repo);
	const struct agent_start start = {
		.repo = in->repo,
		.interest = rq->caller.interest,
		.agent = in->agent,
		.provider = in->provider,
	};
	reply_json(rq, 200, reservation_admit(rq, &start));
}
