/** svc-integrations/tracker/: tickets at the trackers that accounts are connected to.
 *
 *     ticket.c   the internal operations: reading a ticket, and commenting on one
 *     linear.c   tickets of Linear, by its GraphQL API
 *     jira.c     tickets of Jira Cloud, by its REST API
 *     tracker.c  one call of a tracker, and what its refusals mean
 *
 * Everything is done in the name of the account, with its connection (connection/token.h). All
 * functions suspend and must not be called inside a transaction. They raise ERR_NOT_FOUND: there
 * is no such ticket, or the account's user cannot see it; ERR_CONFLICT: the tracker refuses, with
 * its reason, or accepts the connection no more; ERR_UNAVAILABLE: it does not answer, asks to
 * wait, or does not accept the connection now; ERR_UNCERTAIN: it may have made a comment;
 * ERR_UPSTREAM: its answer makes no sense. */
#pragma once

#include "loop/request.h"
#include "provider/provider.h"

#include <yyjson.h>

/** A ticket at a tracker. */
struct ticket {
	const struct provider *provider;
	const char *token; /* of the account's connection */
	const char *id;    /* as people write it: `ENG-42` */
	const char *url;   /* NULL: not known. It tells which site or workspace the ticket is in */
};

/** What is shown of a ticket; in the request's arena. */
struct ticket_facts {
	const char *title, *state; /* `In Progress` */
	const char *url;           /* NULL: not known */
};

/** What can be done with tickets by an API of a tracker, for a setting such as TRACKER_A_API. */
struct tracker_api {
	const char *name; /* the value of the setting: `linear` */
	struct ticket_facts (*get)(struct request *rq, const struct ticket *ticket);
	/** Whether one of the newest comments has `mark` in it. */
	bool (*has_comment)(struct request *rq, const struct ticket *ticket, const char *mark);
	/** Comment with lines of text. */
	void (*comment)(struct request *rq, const struct ticket *ticket, const char *text);
};

extern const struct tracker_api LINEAR, JIRA;

/** The API of a tracker; NULL: it has none, or the setting names one that there is not. */
const struct tracker_api *tracker_api_of(const struct provider *provider);

/** Check the settings TRACKER_A_API and TRACKER_B_API. ERR_INVALID, after a line on standard error
 * for each fault. */
enum err_code trackers_check(void);

/** An answer of a tracker with a status below 500 and other than 429. */
struct tracker_answer {
	int status;
	yyjson_val *json; /* never NULL */
};

/** Call a tracker at `url`, which is below the address of its API, with a JSON body or none (NULL).
 * `is_safe`: it changes nothing. Raises what is said above, also for an answer of status 401, 403
 * or 404. */
struct tracker_answer tracker_call(struct request *rq, const struct ticket *ticket, const char *url,
                                   yyjson_mut_val *body, bool is_safe);

/** Whether the ticket's address, which must be known, is `place` or below it:
 * `https://acme.atlassian.net`, `https://linear.app/acme`. Case and scheme do not count. */
bool ticket_is_below(const struct ticket *ticket, const char *place);

attr_noreturn void tracker_raise_missing(struct request *rq, const struct ticket *ticket);

/** Raise the tracker's refusal, with its words, which may be NULL. */
attr_noreturn void tracker_raise_refused(struct request *rq, const struct ticket *ticket,
                                         const char *words);
