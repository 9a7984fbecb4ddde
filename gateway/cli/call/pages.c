#include "call/pages.h"

#include "json/json.h"

#include <stdlib.h>

#define PAGE_ITEMS 100 /* the service gives no more */

static yyjson_val *list_of(const struct answer *answer, const struct paging *paging)
{
	yyjson_val *list = yyjson_ptr_get(answer->json, paging->items);
	return yyjson_is_arr(list) ? list : NULL;
}

static struct answer *call_page(struct query *query, const struct paging *paging, size_t offset,
                                size_t wanted)
{
	struct arena *arena = query->cli->arena;
	query_set(query, paging->limit,
	          arena_printf(arena, "%zu", MIN_OF(wanted - offset, PAGE_ITEMS)));
	/* Where one page is enough: a search with an offset ranks more papers, and takes longer. */
	if (wanted > PAGE_ITEMS || offset > 0)
		query_set(query, "offset", arena_printf(arena, "%zu", offset));
	return call(query);
}

/* The pages as one: the first answer, and a list to which the items of others are added. */
struct joined {
	yyjson_mut_doc *doc;
	yyjson_mut_val *root, *list;
};

static struct joined joined_of(struct cli *cli, const struct answer *first,
                               const struct paging *paging)
{
	struct joined joined = {.doc = json_doc_new(cli->arena)};
	joined.root = yyjson_val_mut_copy(joined.doc, first->json);
	joined.list = yyjson_mut_ptr_get(joined.root, paging->items);
	return joined;
}

static void add_items(struct joined *joined, yyjson_val *list)
{
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item)
		yyjson_mut_arr_append(joined->list, yyjson_val_mut_copy(joined->doc, item));
}

/* Whether there are more items, by the total, or, where there is none, as the page was full. */
static bool has_more(const struct answer *page, size_t size, size_t asked, size_t count)
{
	if (size == 0)
		return false;
	return page->total >= 0 ? (int64_t)count < page->total : size >= asked;
}

struct answer *pages_call(struct query *query, const struct paging *paging, size_t wanted)
{
	struct cli *cli = query->cli;
	struct answer *first = call_page(query, paging, 0, wanted), *page = first;
	size_t count = yyjson_arr_size(list_of(first, paging)), size = count;
	if (count >= wanted || !has_more(page, size, MIN_OF(wanted, PAGE_ITEMS), count))
		return first;
	struct joined joined = joined_of(cli, first, paging);
	while (count < wanted && has_more(page, size, MIN_OF(wanted, PAGE_ITEMS), count)) {
		page = call_page(query, paging, count, wanted);
		size = yyjson_arr_size(list_of(page, paging));
		add_items(&joined, list_of(page, paging));
		count += size;
	}
	first->total = page->total;
	first->json = json_parse_own(cli->arena, json_write_mut(cli->arena, joined.root, NULL));
	return first;
}

struct answer *pages_call_text(struct query *query, const struct paging *paging, const char *wanted)
{
	char *end;
	long long number = wanted ? strtoll(wanted, &end, 10) : 0;
	query_set(query, paging->limit, wanted);
	return number > 0 && *end == '\0'
	               ? pages_call(query, paging, (size_t)MIN_OF(number, LIST_ITEMS_MAX))
	               : call(query);
}
