#include "http/api.h"

#include "base/utf8.h"
#include "crypto/crypto.h"
#include "crypto/scope.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_NONE  0
#define BODY_SMALL (16 << 10)
#define BODY_JSON  (1 << 20)
#define BODY_LARGE (8 << 20)

#define BODY_DELIVERY (25 << 20)

#define OPEN    API_OPEN
#define GONE    API_GONE
#define CREATES API_CREATES
#define READS   API_READS

#define CALLS_OUT     API_CALLS_OUT
#define CONVERGES     API_CONVERGES
#define REPO_KEYS     API_REPO_KEYS
#define INTEREST_KEYS API_INTEREST_KEYS
#define PROTOCOL      API_PROTOCOL
#define VERSIONED     API_VERSIONED

/* api_init() sets `scope`. */
static struct api_op ops[] = {
#define API(id, method, path, service, scope, body, flags) \
	{API_ID_##id, #id, #method, path, API_##service, SCOPE_NONE, scope, body, flags},
#include "api.def"
};

/* The paths as a trie with a node for each segment:
 *
 *     "" - api - v1.0 - experiments            GET, POST
 *                          {experiment_id}     GET, PUT, DELETE
 *
 * The walk takes the child whose literal equals the segment, else the child of the parameter. It
 * does not go back, so a path means the same operation for every method. Below a parameter of the
 * rest there are only literals, ends of the path that are not of the parameter:
 *
 *     assets - list                         GET
 *              {+arxiv_id}                  GET, PUT
 *                  similar                  GET */
struct node {
	const char *literal; /* NULL: a parameter */
	size_t literal_length;
	const char *param; /* its name */
	bool is_rest;      /* `{+name}`: matches the rest of the path, up to a literal end */
	struct node *next; /* sibling */
	struct node *literals;
	struct node *child_param;
	struct api_op *ops[8]; /* operations of this path */
	size_t op_count;
	char allow[64]; /* their methods, as the value of Allow */
};

static struct node root;

/* Nodes are never freed: the trie lives as long as the process. */
static struct node *node_new(const char *segment, size_t length)
{
	struct node *node = calloc(1, sizeof(*node));
	require(node);
	if (segment[0] != '{') {
		node->literal = segment;
		node->literal_length = length;
		return node;
	}
	node->is_rest = segment[1] == '+';
	const char *name = segment + (node->is_rest ? 2 : 1);
	node->param = strndup(name, (size_t)(segment + length - 1 - name));
	require(node->param);
	return node;
}

static struct node *node_literal(const struct node *node, const char *segment, size_t length)
{
	for (struct node *child = node->literals; child; child = child->next)
		if (child->literal_length == length && memcmp(child->literal, segment, length) == 0)
			return child;
	return NULL;
}

static struct node *node_child_param(struct node *node, const char *segment, size_t length)
{
	require(!node->is_rest);
	if (!node->child_param)
		node->child_param = node_new(segment, length);
	struct node *child = node->child_param;
	require(child->is_rest == (segment[1] == '+') &&
	        strncmp(child->param, segment + (child->is_rest ? 2 : 1), strlen(child->param)) ==
	                0);
	return child;
}

/* The child for one segment of a template; creates it if it is missing. */
static struct node *node_child(struct node *node, const char *segment, size_t length)
{
	if (segment[0] == '{')
		return node_child_param(node, segment, length);
	struct node *child = node_literal(node, segment, length);
	if (!child) {
		child = node_new(segment, length);
		child->next = node->literals;
		node->literals = child;
	}
	return child;
}

static void node_add_op(struct node *node, struct api_op *op)
{
	require(node->op_count < ARRAY_LEN(node->ops));
	node->ops[node->op_count++] = op;
	const char *methods = strcmp(op->method, "GET") == 0 ? "GET, HEAD" : op->method;
	size_t used = strlen(node->allow), room = sizeof(node->allow) - used;
	int length = snprintf(node->allow + used, room, "%s%s", used == 0 ? "" : ", ", methods);
	require(length >= 0 && (size_t)length < room);
}

void api_init(void)
{
	if (root.literals)
		return;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		struct api_op *op = &ops[i];
		op->scope = op->scope_name ? scope_mask(op->scope_name) : SCOPE_NONE;
		require((op->scope == SCOPE_NONE) ==
		        ((op->flags & (API_OPEN | API_PROTOCOL)) != 0));
		size_t params = 0;
		struct node *node = &root;
		for (const char *at = op->path; at;) {
			const char *segment = at + 1, *end = strchrnul(segment, '/');
			node = node_child(node, segment, (size_t)(end - segment));
			params += node->param != NULL;
			at = *end == '/' ? end : NULL;
		}
		require(params <= API_PARAMS_MAX);
		node_add_op(node, op);
	}
}

enum err_code api_permit(const struct api_op *op, const struct identity *caller)
{
	if ((caller->scopes & op->scope) != op->scope)
		return ERR_SCOPE;
	if (caller->kind == KEY_SERVICE)
		return ERR_NONE; /* its repository is a proof, no limit */
	unsigned open =
		(caller->repo ? API_REPO_KEYS : 0U) | (caller->interest ? API_INTEREST_KEYS : 0U);
	return open && !(op->flags & open) ? ERR_FORBIDDEN : ERR_NONE;
}

const struct api_op *api_op(enum api_id id)
{
	require((unsigned)id < API_ID_COUNT);
	return &ops[id];
}

/* Decode one segment to `out`; `ret_end` is the end of the decoded text. False: invalid
 * percent-encoding, or a byte that parsers treat differently. `may_split`: an encoded slash is
 * allowed. */
static bool segment_decode(const char *segment, size_t length, bool may_split, char *out,
                           char **ret_end)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)segment[i];
		if (byte == '%') {
			if (length - i < 3 || !hex_decode(segment + i + 1, 2, &byte, 1))
				return false;
			i += 2;
		}
		if (byte < 0x20 || byte == 0x7f || byte == '\\' || (byte == '/' && !may_split))
			return false;
		*out++ = (char)byte;
	}
	*ret_end = out;
	return true;
}

/* Whether no segment is empty, `.` or `..`. Decoding a slash may have made several segments. */
static bool has_plain_segments(const char *text, const char *end)
{
	for (const char *segment = text;; segment++) {
		const char *stop = memchr(segment, '/', (size_t)(end - segment));
		size_t length = (size_t)((stop ? stop : end) - segment);
		if (length == 0 || (length <= 2 && memcmp(segment, "..", length) == 0))
			return false;
		if (!stop)
			return true;
		segment = stop;
	}
}

/* One walk down the trie. */
struct walk {
	const char *at, *end; /* the rest of the path; starts with a slash */
	char *out;            /* room for the next decoded value */
	struct node *node;
	struct api_match *match;
};

/* Whether the path from the slash at `at` is a literal end of an operation below `node`. `scratch`
 * has room for it. */
static bool is_literal_end(const struct node *node, const char *at, const char *end, char *scratch)
{
	while (node && at < end) {
		const char *segment = at + 1;
		const char *stop = memchr(segment, '/', (size_t)(end - segment));
		char *decoded_end;
		at = stop ? stop : end;
		if (!segment_decode(segment, (size_t)(at - segment), false, scratch, &decoded_end))
			return false;
		node = node_literal(node, scratch, (size_t)(decoded_end - scratch));
	}
	return node && node->op_count > 0;
}

/* How much of the rest of the path the parameter is: all that precedes the longest literal end. */
static size_t rest_length(const struct walk *walk, const struct node *param)
{
	const char *rest = walk->at + 1, *slash = rest;
	while ((slash = memchr(slash, '/', (size_t)(walk->end - slash)))) {
		if (slash > rest && is_literal_end(param, slash, walk->end, walk->out))
			return (size_t)(slash - rest);
		slash++;
	}
	return (size_t)(walk->end - rest);
}

/* Match the next segment, or the rest of the path, and go down. */
static bool walk_step(struct walk *walk)
{
	const char *segment = walk->at + 1;
	const char *stop = memchr(segment, '/', (size_t)(walk->end - segment));
	size_t length = (size_t)((stop ? stop : walk->end) - segment);
	char *value = walk->out, *end;

	struct node *child = NULL, *param = walk->node->child_param;
	if (segment_decode(segment, length, false, value, &end))
		child = node_literal(walk->node, value, (size_t)(end - value));
	if (!child) {
		child = param;
		if (!child)
			return false;
		if (child->is_rest)
			length = rest_length(walk, child);
		if (!segment_decode(segment, length, child->is_rest, value, &end))
			return false;
	}
	if (!has_plain_segments(value, end) || !utf8_is_valid(value, (size_t)(end - value)))
		return false;
	if (child == param) {
		*end = '\0';
		walk->out = end + 1;
		walk->match->params[walk->match->param_count++] =
			(struct api_param){child->param, value};
	}
	walk->at = segment + length;
	walk->node = child;
	return true;
}

static const struct api_op *node_op(const struct node *node, const char *method, size_t length)
{
	if (length == 4 && memcmp(method, "HEAD", 4) == 0)
		length = 3, method = "GET";
	for (size_t i = 0; i < node->op_count; i++) {
		const char *own = node->ops[i]->method;
		if ((strlen(own) == length && memcmp(own, method, length) == 0) ||
		    strcmp(own, "ANY") == 0)
			return node->ops[i];
	}
	return NULL;
}

enum err_code api_match(struct arena *arena, const char *method, size_t method_length,
                        const char *path, size_t path_length, struct api_match *ret_match)
{
	require(root.literals);
	*ret_match = (struct api_match){0};
	if (path_length == 1 && path[0] == '*') {
		ret_match->allow = "GET, HEAD, POST, PUT, PATCH, DELETE";
		return ERR_METHOD;
	}
	if (path_length == 0 || path[0] != '/')
		return ERR_NOT_FOUND;
	struct walk walk = {
		.at = path,
		.end = path + path_length,
		.out = arena_alloc(arena, path_length + API_PARAMS_MAX + 1),
		.node = &root,
		.match = ret_match,
	};
	while (walk.at < walk.end)
		if (!walk_step(&walk))
			return ERR_NOT_FOUND;
	if (walk.node->op_count == 0)
		return ERR_NOT_FOUND;
	ret_match->op = node_op(walk.node, method, method_length);
	if (ret_match->op)
		return ERR_NONE;
	ret_match->allow = arena_strdup(arena, walk.node->allow);
	return ERR_METHOD;
}
