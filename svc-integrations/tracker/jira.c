/* Jira Cloud (https://developer.atlassian.com/cloud/jira/platform/rest/v3/). A token of OAuth is
 * good for the sites that its user chose, which api.atlassian.com/oauth/token/accessible-resources
 * lists: [{"id", "url": "https://acme.atlassian.net", ...}]. Their tickets, the *issues*, are below
 * /ex/jira/ID/rest/api/3. Comments are documents in the Atlassian Document Format. */
#include "json/json.h"
#include "provider/oauth_answer.h"
#include "tracker/tracker.h"

#include <string.h>

/* Of the ids of sites, and of an issue: its key or its number. */
#define ID_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

static bool is_id(const char *text)
{
	return text && text[0] && !text[strspn(text, ID_CHARACTERS)];
}

/* The tracker's words in a refusal: {"errorMessages": [...], "errors": {...}}. */
static void require_success(struct request *rq, const struct ticket *ticket,
                            const struct tracker_answer *answer)
{
	if (answer->status >= 400)
		tracker_raise_refused(rq, ticket,
		                      yyjson_get_str(yyjson_arr_get_first(
					      json_get(answer->json, "errorMessages"))));
}

/* Whether the ticket may be at the site; any, if its address is not known. */
static bool may_be_at(const struct ticket *ticket, yyjson_val *site)
{
	const char *url = json_get_text(site, "url");
	return is_id(json_get_text(site, "id")) &&
	       (!ticket->url || (url && ticket_is_below(ticket, url)));
}

/* The id of the site that has the ticket: that of its address, or the only one. */
static const char *site_of(struct request *rq, const struct ticket *ticket)
{
	const char *url = arena_printf(rq->arena, "%s/oauth/token/accessible-resources",
	                               ticket->provider->tracker->api_url);
	struct tracker_answer answer = tracker_call(rq, ticket, url, NULL, true);
	require_success(rq, ticket, &answer);
	const char *found = NULL;
	size_t index, count;
	yyjson_val *site;
	yyjson_arr_foreach (answer.json, index, count, site) {
		const char *id = json_get_text(site, "id");
		if (!may_be_at(ticket, site))
			continue;
		if (found && strcmp(found, id) != 0)
			raise_error(rq, ERR_CONFLICT,
			            "%s has several sites that you can see: the address of %s must "
			            "tell which of them it is on",
			            ticket->provider->name, ticket->id);
		found = id;
	}
	if (!found)
		tracker_raise_missing(rq, ticket);
	return found;
}

static yyjson_val *call(struct request *rq, const struct ticket *ticket, const char *rest,
                        yyjson_mut_val *body)
{
	if (!is_id(ticket->id))
		tracker_raise_missing(rq, ticket);
	const char *url = arena_printf(rq->arena, "%s/ex/jira/%s/rest/api/3/issue/%s%s",
	                               ticket->provider->tracker->api_url, site_of(rq, ticket),
	                               ticket->id, rest);
	struct tracker_answer answer = tracker_call(rq, ticket, url, body, !body);
	require_success(rq, ticket, &answer);
	return answer.json;
}

static struct ticket_facts get(struct request *rq, const struct ticket *ticket)
{
	yyjson_val *issue = call(rq, ticket, "?fields=summary,status", NULL);
	yyjson_val *fields = json_get(issue, "fields");
	return (struct ticket_facts){
		.title = json_get_text(fields, "summary"),
		.state = json_get_text(json_get(fields, "status"), "name"),
		.url = ticket->url,
	};
}

static bool has_comment(struct request *rq, const struct ticket *ticket, const char *mark)
{
	yyjson_val *list = call(rq, ticket, "/comment?orderBy=-created&maxResults=50", NULL);
	yyjson_val *comments = json_get(list, "comments");
	return comments && strstr(json_write(rq->arena, comments, NULL), mark);
}

/* A paragraph for each line of the text; a document has no line breaks in its texts. */
static yyjson_mut_val *document(yyjson_mut_doc *doc, const char *text)
{
	yyjson_mut_val *root = yyjson_mut_obj(doc), *paragraphs = yyjson_mut_arr(doc);
	yyjson_mut_obj_add_str(doc, root, "type", "doc");
	yyjson_mut_obj_add_int(doc, root, "version", 1);
	yyjson_mut_obj_add_val(doc, root, "content", paragraphs);
	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		size_t length = strcspn(line, "\r\n");
		yyjson_mut_val *paragraph = yyjson_mut_arr_add_obj(doc, paragraphs);
		yyjson_mut_obj_add_str(doc, paragraph, "type", "paragraph");
		yyjson_mut_val *content = yyjson_mut_obj_add_arr(doc, paragraph, "content");
		yyjson_mut_val *words = yyjson_mut_arr_add_obj(doc, content);
		yyjson_mut_obj_add_str(doc, words, "type", "text");
		yyjson_mut_obj_add_strn(doc, words, "text", line, length);
		line += length;
	}
	return root;
}

static void comment(struct request *rq, const struct ticket *ticket, const char *text)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_val(doc, body, "body", document(doc, text + strspn(text, "\r\n")));
	call(rq, ticket, "/comment", body);
}

const struct tracker_api JIRA = {"jira", get, has_comment, comment};
