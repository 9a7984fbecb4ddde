#include "feed/atom.h"

#include "atom.sql.h"
#include "json/json.h"
#include "reply/resource.h"

#include <string.h>

/* Control characters that XML 1.0 does not have; UTF-8 from Postgres has no surrogates. */
static bool is_forbidden(unsigned char c)
{
	return c < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

/* U+FFFE and U+FFFF, which XML 1.0 does not have either. */
static bool is_noncharacter(const char *at)
{
	return memcmp(at, "\xEF\xBF\xBE", 3) == 0 || memcmp(at, "\xEF\xBF\xBF", 3) == 0;
}

static const char *escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

static void put_text(struct buf *out, const char *text)
{
	for (; text && *text; text++) {
		const char *escape = escape_of(*text);
		if (escape)
			buf_puts(out, escape);
		else if (strncmp(text, "\xEF\xBF", 2) == 0 && text[2] && is_noncharacter(text))
			text += 2;
		else if (!is_forbidden((unsigned char)*text))
			buf_add(out, text, 1);
	}
}

/* <NAME>TEXT</NAME>; `attributes` may be "". */
static void put_element(struct buf *out, const char *name, const char *attributes, const char *text)
{
	buf_printf(out, "<%s%s>", name, attributes);
	put_text(out, text);
	buf_printf(out, "</%s>\n", name);
}

static void put_id(struct buf *out, const char *uuid)
{
	buf_printf(out, "<id>urn:uuid:%s</id>\n", uuid);
}

static void put_link(struct buf *out, const char *rel, const char *type, const char *address)
{
	if (!address)
		return;
	buf_printf(out, "<link rel=\"%s\"%s href=\"", rel, type);
	put_text(out, address);
	buf_puts(out, "\"/>\n");
}

static void put_categories(struct buf *out, const char *json)
{
	yyjson_val *categories, *one;
	size_t i, count;
	if (json_parse(out->arena, json, strlen(json), &categories, NULL) != ERR_NONE)
		return;
	yyjson_arr_foreach (categories, i, count, one) {
		buf_puts(out, "<category term=\"");
		put_text(out, yyjson_get_str(one));
		buf_puts(out, "\"/>\n");
	}
}

static void put_entry(struct buf *out, const struct pg_rows *entries, int row)
{
	const char *at = pg_get(entries, row, "recommended_at");
	buf_puts(out, "<entry>\n");
	put_id(out, pg_get(entries, row, "id"));
	put_element(out, "title", "", pg_get(entries, row, "title"));
	put_element(out, "updated", "", at);
	put_element(out, "published", "", at);
	put_link(out, "alternate", "", pg_get(entries, row, "url"));
	put_categories(out, pg_get(entries, row, "categories"));
	put_element(out, "summary", " type=\"text\"", pg_get(entries, row, "summary"));
	buf_puts(out, "</entry>\n");
}

struct atom_feed atom_feed_get(struct request *rq, struct pg_param hash)
{
	struct pg_rows *found = pg_query(rq, ATOM_FEED_SQL, hash);
	require_row(rq, found, "no such feed");
	return (struct atom_feed){
		.id = pg_get(found, 0, "id"),
		.title = pg_get(found, 0, "title"),
		.updated = pg_get(found, 0, "updated"),
		.last_modified = pg_get(found, 0, "last_modified"),
		.page = pg_get(found, 0, "page"),
	};
}

const char *atom_write(struct request *rq, const struct atom_feed *feed, const char *site,
                       const char *self, size_t *ret_length)
{
	struct pg_rows *entries = pg_query(rq, ATOM_ENTRIES_SQL, pg_text(feed->id));
	struct buf out = {.arena = rq->arena};
	buf_puts(&out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
	               "<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
	put_id(&out, feed->id);
	put_element(&out, "title", "", feed->title);
	put_element(&out, "updated", "", feed->updated);
	buf_puts(&out, "<author><name>expops</name></author>\n");
	put_link(&out, "self", " type=\"application/atom+xml\"", self);
	put_link(&out, "alternate", " type=\"text/html\"",
	         arena_printf(rq->arena, "%s%s", site, feed->page));
	for (int row = 0; row < entries->count; row++)
		put_entry(&out, entries, row);
	buf_puts(&out, "</feed>\n");
	*ret_length = out.length;
	return out.data;
}
