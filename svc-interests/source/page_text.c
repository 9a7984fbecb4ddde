#include "source/page_text.h"

#include "base/base.h"
#include "base/utf8.h"

#include <libxml/HTMLparser.h>
#include <string.h>
#include <strings.h>

/* A `main` or `article` with less text than this is not the page's main text. */
#define MAIN_MIN_BYTES 200

static const char *const LEFT_OUT[] = {
	"script", "style", "noscript", "template", "nav",    "header", "footer", "aside",
	"form",   "svg",   "iframe",   "object",   "button", "select", "math",   "head",
};

/* Elements that do not separate words. */
static const char *const INLINE[] = {
	"a", "abbr",  "b",    "code",   "em",  "font", "i", "kbd", "mark",
	"s", "small", "span", "strong", "sub", "sup",  "u", "var",
};

static bool is_element(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcasecmp((const char *)node->name, name) == 0;
}

static bool is_one_of(const xmlNode *node, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_element(node, names[i]))
			return true;
	return false;
}

/* The node after `node` in the order of the document, below `top`; NULL: there is none. */
static const xmlNode *next_node(const xmlNode *node, const xmlNode *top, bool is_skipped)
{
	if (node->children && !is_skipped)
		return node->children;
	while (node != top && !node->next)
		node = node->parent;
	return node == top ? NULL : node->next;
}

static const xmlNode *find(const xmlNode *top, const char *name)
{
	const xmlNode *node = top;
	while (node && !is_element(node, name))
		node = next_node(node, top, false);
	return node;
}

/* Append text with each run of white space as one space. */
static void add_words(struct buf *out, const char *text)
{
	static const char SPACE[] = " \t\r\n\f\v";
	while (*text) {
		size_t space = strspn(text, SPACE), word = strcspn(text + space, SPACE);
		if (space > 0 && out->length > 0 && out->data[out->length - 1] != ' ')
			buf_puts(out, " ");
		buf_add(out, text + space, word);
		text += space + word;
	}
}

/* The collected text; at most its last character is a space. libxml2 hands on bytes that are not of
 * the encoding that the page claims. */
static const char *finish(struct buf *out)
{
	struct buf text = {.arena = out->arena};
	if (out->length > 0 && out->data[out->length - 1] == ' ')
		out->length--;
	buf_puts(&text, "");
	utf8_repair(&text, out->data, out->length);
	return text.data;
}

static const char *text_below(struct arena *arena, const xmlNode *top)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, "");
	bool is_skipped = false;
	for (const xmlNode *node = top; node; node = next_node(node, top, is_skipped)) {
		is_skipped = is_one_of(node, LEFT_OUT, ARRAY_LEN(LEFT_OUT));
		if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
			add_words(&out, (const char *)node->content);
		else if (!is_one_of(node, INLINE, ARRAY_LEN(INLINE)))
			add_words(&out, " ");
	}
	return finish(&out);
}

static const char *main_text(struct arena *arena, const xmlNode *root)
{
	static const char *const MAIN[] = {"main", "article", "body"};
	const char *text = "";
	for (size_t i = 0; i < ARRAY_LEN(MAIN) && strlen(text) < MAIN_MIN_BYTES; i++) {
		const xmlNode *node = find(root, MAIN[i]);
		const char *below = node ? text_below(arena, node) : "";
		if (strlen(below) > strlen(text))
			text = below;
	}
	return text;
}

/* The text of the first title: of the head, before those of drawings. */
static const char *title_of(struct arena *arena, const xmlNode *root)
{
	struct buf out = {.arena = arena};
	const xmlNode *title = find(root, "title");
	buf_puts(&out, "");
	for (const xmlNode *node = title ? title->children : NULL; node; node = node->next)
		if (node->type == XML_TEXT_NODE)
			add_words(&out, (const char *)node->content);
	return finish(&out);
}

struct page_text page_text_read(struct arena *arena, const char *html, size_t length,
                                const char *charset)
{
	struct page_text page = {"", ""};
	/* What is well-formed UTF-8 is nothing else, whatever the page and its server say. */
	const char *encoding = utf8_is_valid(html, length) ? "UTF-8" : charset;
	htmlDocPtr doc =
		htmlReadMemory(html, (int)length, NULL, encoding,
	                       HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
	                               HTML_PARSE_NONET | HTML_PARSE_COMPACT);
	const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	if (root) {
		page.title = title_of(arena, root);
		page.text = main_text(arena, root);
	}
	xmlFreeDoc(doc);
	return page;
}
