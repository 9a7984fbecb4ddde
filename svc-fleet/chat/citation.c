#include "chat/citation.h"

#include "json/json.h"
#include "wording/run_brief.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Of the citations of one reply. */
#define CITATIONS_MAX 50

/* `[R2.selection_reasoning_excerpt]`; a longer one names no member that there is. */
#define MARK_MAX_BYTES 64

const char *chat_run_name(struct arena *arena, yyjson_val *run_id)
{
	const char *text = yyjson_get_str(run_id);
	return text ? text : json_write(arena, run_id, NULL);
}

struct citations citations_new(struct arena *arena, yyjson_mut_doc *doc)
{
	return (struct citations){.arena = arena, .doc = doc, .list = yyjson_mut_arr(doc)};
}

static bool has_citation(const struct citations *citations, const char *json)
{
	size_t i, count;
	yyjson_mut_val *one;
	yyjson_mut_arr_foreach (citations->list, i, count, one)
		if (strcmp(json_write_mut(citations->arena, one, NULL), json) == 0)
			return true;
	return false;
}

void citation_add(struct citations *citations, yyjson_val *run_id, const char *field)
{
	yyjson_mut_val *citation = yyjson_mut_obj(citations->doc);
	yyjson_mut_obj_add_val(citations->doc, citation, "run_id",
	                       yyjson_val_mut_copy(citations->doc, run_id));
	yyjson_mut_obj_add_strcpy(citations->doc, citation, "field", field);
	if (yyjson_mut_arr_size(citations->list) < CITATIONS_MAX &&
	    !has_citation(citations, json_write_mut(citations->arena, citation, NULL)))
		yyjson_mut_arr_append(citations->list, citation);
}

/* A mark: `[R2.error]`. */
struct mark {
	size_t length; /* with the brackets; 0: the text does not begin with a mark */
	size_t label;  /* 2 */
	char field[MARK_MAX_BYTES];
};

static struct mark read_mark(const char *text)
{
	static const char NAME[] = "abcdefghijklmnopqrstuvwxyz_";
	struct mark mark = {0};
	if (text[0] != '[' || text[1] != 'R' || !isdigit((unsigned char)text[2]))
		return mark;
	const char *end = memchr(text, ']', strnlen(text, MARK_MAX_BYTES));
	if (!end)
		return mark;
	char *after;
	mark.label = strtoul(text + 2, &after, 10);
	size_t length = *after == '.' ? strspn(after + 1, NAME) : 0;
	if (length > 0)
		memcpy(mark.field, after + 1, length);
	else
		memcpy(mark.field, "run_id", sizeof("run_id"));
	if (after + (length > 0 ? length + 1 : 0) == end)
		mark.length = (size_t)(end + 1 - text);
	return mark;
}

/* The run that the mark names and that has the member; NULL: it is invented. */
static yyjson_val *marked_run(const struct mark *mark, const struct labelled_runs *runs)
{
	if (mark->label < 1 || mark->label > runs->count || !run_brief_shows(mark->field))
		return NULL;
	yyjson_val *run = runs->runs[mark->label - 1], *value = json_get(run, mark->field);
	return value && !yyjson_is_null(value) ? run : NULL;
}

static void take_mark(struct citations *citations, const struct mark *mark,
                      const struct labelled_runs *runs, struct buf *out)
{
	yyjson_val *run = marked_run(mark, runs);
	if (run) {
		yyjson_val *run_id = json_get(run, "run_id");
		citation_add(citations, run_id, mark->field);
		buf_printf(out, "[run %s]", chat_run_name(citations->arena, run_id));
	} else if (out->length > 0 && out->data[out->length - 1] == ' ') {
		out->data[--out->length] = '\0';
	}
}

const char *citations_take(struct citations *citations, const char *text,
                           const struct labelled_runs *runs)
{
	struct buf out = {.arena = citations->arena};
	buf_puts(&out, "");
	text += strspn(text, " \n");
	while (*text) {
		struct mark mark = read_mark(text);
		if (mark.length > 0) {
			take_mark(citations, &mark, runs, &out);
			text += mark.length;
		} else {
			buf_add(&out, text++, 1);
		}
	}
	while (out.length > 0 && strchr(" \n", out.data[out.length - 1]))
		out.data[--out.length] = '\0';
	return out.data;
}
