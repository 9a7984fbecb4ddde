#include "webhook/event_kind.h"

#include "base/base.h"
#include "webhook/code_host_event.h"

#include <string.h>

#define BIT(member) EVENT_MEMBER_BIT(MEMBER_##member)

static const struct event_kind KINDS[] = {
	{"pull_request",
         {[MEMBER_NUMBER] = "pull_request.number",
          [MEMBER_URL] = "pull_request.html_url",
          [MEMBER_STATE] = "pull_request.state",
          [MEMBER_MERGED] = "pull_request.merged",
          [MEMBER_BRANCH] = "pull_request.head.ref",
          [MEMBER_OCCURRED_AT] = "pull_request.updated_at",
          [MEMBER_COMMIT] = "pull_request.merge_commit_sha"},
         .required = BIT(NUMBER) | BIT(STATE) | BIT(OCCURRED_AT)},
	{"issues",
         {[MEMBER_NUMBER] = "issue.number",
          [MEMBER_URL] = "issue.html_url",
          [MEMBER_STATE] = "issue.state",
          [MEMBER_OCCURRED_AT] = "issue.updated_at"},
         .required = BIT(NUMBER) | BIT(STATE) | BIT(OCCURRED_AT)},
	{"push",
         {[MEMBER_URL] = "compare",
          [MEMBER_BRANCH] = "ref",
          [MEMBER_OCCURRED_AT] = "repository.pushed_at",
          [MEMBER_COMMIT] = "after"},
         .required = BIT(BRANCH),
         .has_no_action = true},
	{"workflow_run",
         {[MEMBER_URL] = "workflow_run.html_url",
          [MEMBER_STATE] = "workflow_run.status",
          [MEMBER_BRANCH] = "workflow_run.head_branch",
          [MEMBER_RUN_ID] = "workflow_run.id",
          [MEMBER_WORKFLOW] = "workflow_run.path",
          [MEMBER_CONCLUSION] = "workflow_run.conclusion",
          [MEMBER_OCCURRED_AT] = "workflow_run.updated_at"},
         .required = BIT(RUN_ID) | BIT(STATE) | BIT(OCCURRED_AT)},
	{"repository",
         {[MEMBER_URL] = "repository.html_url", [MEMBER_OCCURRED_AT] = "repository.updated_at"},
         .may_move_repo = true},
	{"installation", {0}, .is_of_installation = true},
	{"installation_repositories", {0}, .is_of_installation = true},
	{"installation_target", {0}, .is_of_installation = true},
};

const struct event_kind *event_kind_of(const char *event)
{
	for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
		if (strcmp(KINDS[i].event, event) == 0)
			return &KINDS[i];
	return NULL;
}

/* The outermost members that are read here, and those from which an operator sees who did what. */
static const char *const DELIVERY_MEMBERS[] = {
	"account",
	"action",
	"after",
	"changes",
	"compare",
	"head_commit",
	"installation",
	"issue",
	"number",
	"organization",
	"pull_request",
	"ref",
	"repositories",
	"repositories_added",
	"repositories_removed",
	"repository",
	"sender",
	"workflow_run",
	NULL,
};

/* Texts in which a revert is looked for. */
static const char *const LONG_TEXTS[] = {"body", "message", NULL};

/* GitHub takes 65,536 characters as the body of a pull request; each escaped has six bytes. */
#define LONG_TEXT_MAX (6 * 65536)

const struct json_filter DELIVERY_FILTER = {
	.members = DELIVERY_MEMBERS,
	.text_max =
		2 * EVENT_LINK_MAX, /* the longest that is read beside these, some of it escaped */
	.long_texts = LONG_TEXTS,
	.long_text_max = LONG_TEXT_MAX,
};
