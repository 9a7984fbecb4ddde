#include "mcp/digest_text.h"

#include "json/json.h"

#include <inttypes.h>

/* Append a text of others as one line, so that none is read as a heading or an item. */
static void add_line(struct buf *out, const char *before, const char *text, const char *after)
{
	if (!text)
		return;
	buf_puts(out, before);
	for (const char *at = text; *at; at++)
		buf_add(out, *at == '\n' || *at == '\t' ? " " : at, 1);
	buf_puts(out, after);
}

static void add_paper(struct buf *out, yyjson_val *paper)
{
	add_line(out, "- **", json_get_text(paper, "title"), "**");
	buf_printf(out, " (arXiv %s, relevance %.2f, recommendation_id %s)\n",
	           json_get_text(paper, "arxiv_id"), json_get_float(paper, "relevance_score", 0),
	           json_get_text(paper, "recommendation_id"));
	add_line(out, "  ", json_get_text(paper, "reasoning"), "\n");
	add_line(out, "  Experiment: ", json_get_text(paper, "suggested_experiment"), "\n");
	add_line(out, "  ", json_get_text(paper, "abstract"), "\n");
}

static void add_interest(struct buf *out, yyjson_val *interest)
{
	yyjson_val *paper;
	size_t index, count;
	add_line(out, "\n## ", json_get_text(interest, "name"), "\n\n");
	add_line(out, "", json_get_text(interest, "message"), "\n\n");
	yyjson_arr_foreach (json_get(interest, "papers"), index, count, paper)
		add_paper(out, paper);
}

const char *digest_text(struct arena *arena, const char *json)
{
	yyjson_val *digest = json_parse_own(arena, json), *interest;
	struct buf out = {.arena = arena};
	size_t index, count;
	buf_printf(&out, "# Digest of %s\n\n", json_get_text(digest, "date"));
	add_line(&out, "", json_get_text(digest, "notice"), "\n");
	yyjson_arr_foreach (json_get(digest, "interests"), index, count, interest)
		add_interest(&out, interest);
	if (json_get_int(digest, "next_offset", -1) > 0)
		buf_printf(&out, "\nmore interests: get_digest with offset %" PRId64 "\n",
		           json_get_int(digest, "next_offset", -1));
	add_line(&out, "\ntruncated: ", json_get_text(digest, "rest"), "\n");
	return out.data;
}
