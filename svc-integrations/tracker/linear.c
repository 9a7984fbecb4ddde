/* Linear (https://linear.app/developers/graphql). A ticket is an *issue*; `issue(id)` takes its
 * identifier, `ENG-42`, or its UUID. Lists have no direction: they are ordered by createdAt, the
 * newest first (github.com/schpet/linear-cli/pull/214). A refusal has the status 200 or 400 and a
 * list `errors`, whose `extensions.code` is RATELIMITED, AUTHENTICATION_ERROR and so on; an issue
 * that cannot be seen is null, or refused in words (`Entity not found`). */
#include "base/url.h"
#include "json/json.h"
#include "provider/oauth_answer.h"
#include "tracker/tracker.h"

#include <ctype.h>
#include <string.h>

#define BLANK " \t\r\n"

#define ISSUE "query($id: String!) { issue(id: $id) { title url state { name } } }"
#define COMMENTS \
	"query($id: String!) { issue(id: $id) { url comments(first: 50) { nodes { body } } } }"
#define COMMENT "mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }"

static void check_errors(struct request *rq, const struct ticket *ticket, yyjson_val *json)
{
	yyjson_val *error = yyjson_arr_get_first(json_get(json, "errors"));
	const char *code = json_get_text(json_get(error, "extensions"), "code");
	const char *words = json_get_text(error, "message");
	if (!error)
		return;
	if (code && strcmp(code, "RATELIMITED") == 0)
		raise_error(rq, ERR_UNAVAILABLE, "%s asks to wait", ticket->provider->name);
	if (words && strstr(words, "not found"))
		tracker_raise_missing(rq, ticket);
	tracker_raise_refused(rq, ticket, words);
}

/* The member `data` of the answer. */
static yyjson_val *ask(struct request *rq, const struct ticket *ticket, const char *query,
                       yyjson_mut_doc *doc, yyjson_mut_val *variables, bool is_safe)
{
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, body, "query", query);
	yyjson_mut_obj_add_val(doc, body, "variables", variables);
	struct tracker_answer answer =
		tracker_call(rq, ticket, ticket->provider->tracker->api_url, body, is_safe);
	check_errors(rq, ticket, answer.json);
	return json_get(answer.json, "data");
}

/* Whether an issue is in the workspace of the ticket's address, if that is known: a token is good
 * for one workspace, and others have an ENG-42, too. `url`:
 * https://linear.app/WORKSPACE/issue/ENG-42, of the issue. */
static bool is_in_workspace(struct request *rq, const struct ticket *ticket, const char *url)
{
	if (!ticket->url)
		return true;
	size_t length = url ? url_scheme_length(url) : 0;
	if (length == 0)
		return false;
	length += strcspn(url + length, "/");
	length += url[length] == '/';
	length += strcspn(url + length, "/");
	return ticket_is_below(ticket, arena_strndup(rq->arena, url, length));
}

/* The members of an issue that `query` asks for, `url` among them. */
static yyjson_val *ask_issue(struct request *rq, const struct ticket *ticket, const char *query)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *variables = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, variables, "id", ticket->id);
	yyjson_val *issue = json_get(ask(rq, ticket, query, doc, variables, true), "issue");
	if (!yyjson_is_obj(issue) || !is_in_workspace(rq, ticket, json_get_text(issue, "url")))
		tracker_raise_missing(rq, ticket);
	return issue;
}

static struct ticket_facts get(struct request *rq, const struct ticket *ticket)
{
	yyjson_val *issue = ask_issue(rq, ticket, ISSUE);
	return (struct ticket_facts){
		.title = json_get_text(issue, "title"),
		.state = json_get_text(json_get(issue, "state"), "name"),
		.url = json_get_text(issue, "url"),
	};
}

static bool has_comment(struct request *rq, const struct ticket *ticket, const char *mark)
{
	yyjson_val *comments = json_get(ask_issue(rq, ticket, COMMENTS), "comments"), *comment;
	size_t index, count;
	yyjson_arr_foreach (json_get(comments, "nodes"), index, count, comment) {
		const char *body = json_get_text(comment, "body");
		if (body && strstr(body, mark))
			return true;
	}
	return false;
}

/* Lines of text as Markdown that shows them: each is a paragraph, and every ASCII punctuation has a
 * backslash in front (CommonMark 0.31, 2.4), but the colon, which means nothing without the others
 * and is in the mark that has_comment() looks for. */
static const char *paragraphs(struct arena *arena, const char *text)
{
	struct buf out = {.arena = arena};
	for (const char *at = text + strspn(text, BLANK); *at; at++) {
		if (*at == '\n' || *at == '\r') {
			buf_puts(&out, "\n\n");
			at += strspn(at, BLANK) - 1;
			continue;
		}
		if (ispunct((unsigned char)*at) && *at != ':')
			buf_puts(&out, "\\");
		buf_add(&out, at, 1);
	}
	return out.data ? out.data : "";
}

static void comment(struct request *rq, const struct ticket *ticket, const char *text)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *variables = yyjson_mut_obj(doc), *input = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, input, "issueId", ticket->id);
	yyjson_mut_obj_add_str(doc, input, "body", paragraphs(rq->arena, text));
	yyjson_mut_obj_add_val(doc, variables, "input", input);
	yyjson_val *data = ask(rq, ticket, COMMENT, doc, variables, false);
	if (!json_get_bool(json_get(data, "commentCreate"), "success", false))
		tracker_raise_refused(rq, ticket, NULL);
}

const struct tracker_api LINEAR = {"linear", get, has_comment, comment};
