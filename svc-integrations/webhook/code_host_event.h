/** What a delivery says, as events of one form. Knows neither tables nor HTTP.
 *
 * The data of an event, an entry of the stream events.code_host whose type is the member `event`:
 *
 *     {"event": "pull_request", "action": "closed", "repo": "acme/ranker", "number": 7,
 *      "url": "https://github.com/acme/ranker/pull/7", "state": "closed", "merged": true,
 *      "branch": "expops/agent", "run_id": null, "workflow": null, "conclusion": null,
 *      "occurred_at": "2026-01-31T09:30:00.000Z",
 *      "commit": "6dcb09b5b57875f334f61aebed695e2e4193db5e",
 *      "reverts": [{"target": "#5", "by": "#7"}], "repository_id": 1296269,
 *      "installation_id": 123, "delivery_id": "72d3162e-…"}
 *
 * Each member is always there; what a kind of event does not have is null. An event of a pull
 * request or an issue has its `number`, one of a run its `run_id`, and these a `state` and
 * `occurred_at`; a delivery without them makes none. `repo` is as the code
 * host writes it, and `repository_id` its number: a reader asks service/repository_name.h under
 * which name it has the repository. `occurred_at` is when the code host last changed the
 * subject: events can arrive in another order than they happened, so the state with the latest
 * `occurred_at` is the one that holds.
 *
 * `commit` is that by which a pull request was merged, or the last one of a push. `reverts` are the
 * pull requests and commits that a merge into the default branch or a push to it says it reverts
 * (revert.h); null: none.
 *
 *     event                       subject         state, branch
 *     pull_request                a pull request  open or closed; the branch that it would merge
 *     issues                      an issue        open or closed
 *     push                        a branch        the branch; no state
 *     workflow_run                a workflow run  its status, and the branch that it runs on;
 *                                                 `workflow` is the name of its file
 *     installation,               the app's installation. One event for each repository that the
 *     installation_repositories   delivery names; with a `repo` of null if it names none, or too
 *                                 many
 *     installation_target         the account of an installation, renamed
 *     repository                  a repository: renamed, transferred, deleted
 *
 * The lane of an event (task/task.h) is its repository in lower case, or else `installation ID`:
 * one that a reader cannot handle delays only those of the same repository.
 *
 * Its id is a hash of all that it says, without the last three members: of a fact that two webhooks
 * tell, both deliveries make the same event. What has no `occurred_at` is a fact of its own
 * delivery. */
#pragma once

#include "base/arena.h"
#include "json/json_repair.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DELIVERY_ID_MAX    100
#define CODE_HOST_NAME_MAX 64 /* of an event or action */

/** Repositories of one delivery, beyond which it is one event with a `repo` of null. */
#define EVENT_REPOS_MAX 500

/** What a delivery says. In the arena. */
struct code_host_events {
	const char *ignored;       /* why it makes no event, a short text; NULL: it makes some */
	const char *action, *repo; /* NULL: none */
	int64_t installation;      /* 0: none */
	/* [{"id", "lane", "data"}] */
	const char *json;
	size_t count;
	/* What is remembered of installations may be wrong now: of `installation`, if this is true,
	 * and of these repositories, a JSON array of names. */
	bool is_installation_changed;
	const char *changed_repos;
	/* The names of repositories in it, with their numbers: a JSON array of what
	 * repository_record() takes (repository_name.fn.sql). */
	const char *repositories;
};

/** Whether a text has the form of a delivery's id, or of an event's name. */
bool delivery_id_is_valid(const char *text);
bool code_host_name_is_valid(const char *text);

/** What code_host_events_read() needs of the JSON of a delivery. */
extern const struct json_filter DELIVERY_FILTER;

/** Read the JSON of a delivery, leniently (json/json.h). `event` and `delivery` are valid names. */
struct code_host_events code_host_events_read(struct arena *arena, const char *event,
                                              const char *delivery, const char *text,
                                              size_t length);
