#include "reply/reply_papers.h"

#include "input/http_call.h"
#include "json/json.h"
#include "product/citation.h"
#include "reply/etag.h"
#include "reply/media_type.h"
#include "reply/reply.h"

#include <string.h>

static const char *const MEDIA_TYPES[] = {
	"application/json",
	"application/x-bibtex",
	"application/x-research-info-systems",
	NULL,
};

/* The forms other than JSON, by number of MEDIA_TYPES. */
static const struct {
	enum citation_format format;
	const char *type;
	const char *file;
} FORMS[] = {
	[1] = {CITATION_BIBTEX, "application/x-bibtex; charset=utf-8", "papers.bib"},
	[2] = {CITATION_RIS, "application/x-research-info-systems; charset=utf-8", "papers.ris"},
};

void reply_papers(struct request *rq, const char *json_array, const char *member)
{
	size_t chosen = reply_choose(rq, MEDIA_TYPES);
	if (chosen == 0) {
		reply_json(rq, 200, json_array);
		return;
	}
	size_t length;
	const char *text = citation_list(rq->arena, FORMS[chosen].format,
	                                 json_parse_own(rq->arena, json_array), member, &length);
	if (strcmp(rq->http->op->method, "GET") == 0)
		reply_header(rq, "ETag", "%s", etag_of_content(rq->arena, text, length));
	reply_header(rq, "Content-Disposition", "attachment; filename=\"%s\"", FORMS[chosen].file);
	reply_content(rq, 200, FORMS[chosen].type, text, length);
}
