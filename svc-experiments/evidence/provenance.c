#include "base/base.h"
#include "crypto/uuid.h"
#include "evidence/format.h"
#include "json/json.h"
#include "service/process.h"

#include <ctype.h>
#include <string.h>

/* What a kind of node is in PROV-DM. */
enum class { ENTITY, ACTIVITY };

static const struct class_of {
	const char *kind;
	enum class class;
} CLASSES[] = {
	{"paper", ENTITY},
	{"recommendation", ENTITY},
	{"experiment", ENTITY},
	{"pull_request", ENTITY},
	{"issue", ENTITY},
	{"analysis", ENTITY},
	{"decision", ENTITY},
	{"eval_build", ENTITY},
	{"selection", ACTIVITY},
	{"run", ACTIVITY},
	{"implementation", ACTIVITY},
	{"eval_run", ACTIVITY},
};

/* A relation of PROV-JSON, by the roles of its two ends; `to` or `from` of the edge comes first. */
struct relation {
	const char *name, *first, *second;
	bool is_turned; /* the end of the edge is the first */
};

static const struct relation USED = {"used", "prov:activity", "prov:entity", false};
static const struct relation MADE = {"wasGeneratedBy", "prov:entity", "prov:activity", false};
static const struct relation MAKES = {"wasGeneratedBy", "prov:entity", "prov:activity", true};
static const struct relation DERIVED = {"wasDerivedFrom", "prov:generatedEntity", "prov:usedEntity",
                                        false};
static const struct relation DERIVES = {"wasDerivedFrom", "prov:generatedEntity", "prov:usedEntity",
                                        true};
static const struct relation INFORMED = {"wasInformedBy", "prov:informed", "prov:informant", false};
static const struct relation INVALIDATED = {"wasInvalidatedBy", "prov:entity", "prov:activity",
                                            false};
static const struct relation INFORMS = {"wasInformedBy", "prov:informed", "prov:informant", true};

/* By the kind of an edge and the classes of its ends; the first row that fits. NULL fits every
 * kind. */
static const struct rule {
	const char *kind;
	enum class from, to;
	const struct relation *relation;
} RULES[] = {
	{"opened", ACTIVITY, ENTITY, &MAKES},       /* a run made the pull request */
	{"opened", ENTITY, ENTITY, &DERIVES},       /* of an experiment */
	{"reapplied_by", ENTITY, ENTITY, &DERIVES}, /* what merges it again is derived from it */
	{"supports", ENTITY, ENTITY, &DERIVES},     /* the decision is derived from the analysis */
	{"decides", ENTITY, ENTITY, &DERIVES},      /* what the experiment is, from the decision */
	{"part_of", ACTIVITY, ACTIVITY, &INFORMS},  /* a selection informed its run */
	{"uses", ENTITY, ACTIVITY, &MADE},          /* an analysis of an evaluation run */
	{NULL, ACTIVITY, ENTITY, &USED},
	{NULL, ENTITY, ENTITY, &DERIVED},
	{NULL, ACTIVITY, ACTIVITY, &INFORMED},
	{NULL, ENTITY, ACTIVITY, &MADE},
};

/* A document under construction. */
struct provenance {
	struct arena *arena;
	yyjson_mut_doc *doc;
	yyjson_mut_val *root;
	yyjson_val *evidence, *nodes;
	size_t relations; /* so far */
	const char *account;
};

/* --- Names and values ------------------------------------------------------------------------- */

/* A qualified name of an id: other characters than those of a path are percent-encoded, so that
 * every reader takes it. */
static const char *id_of(const struct provenance *p, const char *id)
{
	struct buf out = {.arena = p->arena};
	buf_puts(&out, "id:");
	for (const unsigned char *c = (const unsigned char *)id; *c; c++)
		if (isalnum(*c) || strchr("-._", *c))
			buf_add(&out, c, 1);
		else
			buf_printf(&out, "%%%02X", *c);
	return out.data;
}

static yyjson_mut_val *typed(const struct provenance *p, const char *text, const char *type)
{
	yyjson_mut_val *value = yyjson_mut_obj(p->doc);
	yyjson_mut_obj_add_str(p->doc, value, "$", text);
	yyjson_mut_obj_add_str(p->doc, value, "type", type);
	return value;
}

static void add_type(const struct provenance *p, yyjson_mut_val *record, const char *type)
{
	yyjson_mut_obj_add_val(p->doc, record, "prov:type", typed(p, type, "prov:QUALIFIED_NAME"));
}

/* A text, number or truth; money is a decimal. NULL: another value, which is left out. */
static yyjson_mut_val *literal(const struct provenance *p, const char *name, yyjson_val *value)
{
	if (yyjson_is_real(value) || (yyjson_is_num(value) && strstr(name, "_usd")))
		return typed(p,
		             arena_printf(p->arena, strstr(name, "_usd") ? "%.6f" : "%.17g",
		                          yyjson_get_num(value)),
		             strstr(name, "_usd") ? "xsd:decimal" : "xsd:double");
	if (yyjson_is_str(value) || yyjson_is_num(value) || yyjson_is_bool(value))
		return yyjson_val_mut_copy(p->doc, value);
	return NULL;
}

static void add_data(const struct provenance *p, yyjson_mut_val *record, yyjson_val *data)
{
	size_t index, count;
	yyjson_val *name, *value;
	json_obj_foreach (data, index, count, name, value) {
		yyjson_mut_val *said = literal(p, yyjson_get_str(name), value);
		if (said)
			yyjson_mut_obj_add_val(p->doc, record,
			                       arena_printf(p->arena, "expops:%s",
			                                    yyjson_get_str(name)),
			                       said);
	}
}

static void add_time(const struct provenance *p, yyjson_mut_val *record, const char *name,
                     yyjson_val *time)
{
	if (yyjson_is_str(time))
		yyjson_mut_obj_add_val(p->doc, record, name, yyjson_val_mut_copy(p->doc, time));
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Of a kind that is not known here, nothing more can be said than that it is a thing. */
static enum class class_of_kind(const char *kind) {
	for (size_t i = 0; i < ARRAY_LEN(CLASSES);
	     i++) if (strcmp(CLASSES[i].kind, kind) == 0) return CLASSES[i]
		.class;
	return ENTITY;
}

/* The member of the document for records of one kind. */
static yyjson_mut_val *records(const struct provenance *p, const char *kind)
{
	yyjson_mut_val *known = yyjson_mut_obj_get(p->root, kind);
	return known ? known : yyjson_mut_obj_add_obj(p->doc, p->root, kind);
}

static yyjson_mut_val *add_record(const struct provenance *p, const char *kind, const char *id)
{
	return yyjson_mut_obj_add_obj(p->doc, records(p, kind), id);
}

static yyjson_mut_val *add_relation(struct provenance *p, const struct relation *relation,
                                    const char *first, const char *second)
{
	const char *name = arena_printf(p->arena, "_:id%zu", ++p->relations);
	yyjson_mut_val *record = add_record(p, relation->name, name);
	yyjson_mut_obj_add_str(p->doc, record, relation->first, first);
	yyjson_mut_obj_add_str(p->doc, record, relation->second, second);
	return record;
}

/* --- Agents ----------------------------------------------------------------------------------- */

static const struct relation ASSOCIATED = {"wasAssociatedWith", "prov:activity", "prov:agent",
                                           false};
static const struct relation ATTRIBUTED = {"wasAttributedTo", "prov:entity", "prov:agent", false};
static const struct relation ON_BEHALF = {"actedOnBehalfOf", "prov:delegate", "prov:responsible",
                                          false};

/* An agent that acts for the account, once. */
static const char *add_agent(struct provenance *p, const char *id, const char *type)
{
	const char *name = id_of(p, id);
	if (yyjson_mut_obj_get(records(p, "agent"), name))
		return name;
	add_type(p, add_record(p, "agent", name), type);
	add_relation(p, &ON_BEHALF, name, id_of(p, p->account));
	return name;
}

/* What worked: the agent's program with its model, else the account itself. */
static void add_worker(struct provenance *p, const char *activity, yyjson_val *data)
{
	const char *agent = json_get_text(data, "agent"), *model = json_get_text(data, "model");
	const char *who = id_of(p, p->account);
	if (agent)
		who = add_agent(p, arena_printf(p->arena, "agent:%s %s", agent, model ? model : ""),
		                "prov:SoftwareAgent");
	add_relation(p, &ASSOCIATED, activity, who);
}

/* Who decided: the key by which a person did it. */
static void add_author(struct provenance *p, const char *entity, yyjson_val *data)
{
	const char *key = json_get_text(data, "by");
	if (key)
		add_relation(p, &ATTRIBUTED, entity,
		             add_agent(p, arena_printf(p->arena, "key:%s", key), "prov:Person"));
}

/* --- Reverts ---------------------------------------------------------------------------------- */

static const char *kind_of(const struct provenance *p, const char *id)
{
	size_t index, count;
	yyjson_val *node;
	yyjson_arr_foreach (p->nodes, index, count, node)
		if (strcmp(json_get_text(node, "id"), id) == 0)
			return json_get_text(node, "kind");
	return NULL;
}

/* The activity that reverts with a pull request or commit, once. */
static const char *add_revert(struct provenance *p, const char *by, yyjson_val *at)
{
	const char *id = id_of(p, arena_printf(p->arena, "revert:%s", by));
	if (yyjson_mut_obj_get(records(p, "activity"), id))
		return id;
	yyjson_mut_val *record = add_record(p, "activity", id);
	add_type(p, record, "expops:revert");
	add_time(p, record, "prov:startTime", at);
	add_time(p, record, "prov:endTime", at);
	add_worker(p, id, NULL);
	if (kind_of(p, by))
		add_relation(p, &USED, id, id_of(p, by));
	return id;
}

/* The end of a pull request that was reverted. */
static void add_invalidation(struct provenance *p, const char *entity, yyjson_val *data)
{
	const char *by = json_get_text(data, "reverted_by");
	yyjson_val *at = json_get(data, "reverted_at");
	if (by)
		add_time(p, add_relation(p, &INVALIDATED, entity, add_revert(p, by, at)),
		         "prov:time", at);
}

/* --- Nodes and edges -------------------------------------------------------------------------- */

/* The experiment itself carries the digest of the graph. */
static void add_seal(const struct provenance *p, yyjson_mut_val *record, const char *id)
{
	if (strcmp(id, json_get_text(p->evidence, "root")) == 0)
		json_add_member(p->doc, record, "expops:digest", p->evidence, "digest");
}

static void add_node(struct provenance *p, yyjson_val *node)
{
	const char *kind = json_get_text(node, "kind"), *id = id_of(p, json_get_text(node, "id"));
	yyjson_val *data = json_get(node, "data");
	bool is_activity = class_of_kind(kind) == ACTIVITY;
	yyjson_mut_val *record = add_record(p, is_activity ? "activity" : "entity", id);
	add_type(p, record, arena_printf(p->arena, "expops:%s", kind));
	if (is_activity) {
		add_time(p, record, "prov:startTime", json_get(node, "at"));
		add_time(p, record, "prov:endTime", json_get(data, "finished_at"));
	}
	add_data(p, record, data);
	add_seal(p, record, json_get_text(node, "id"));
	if (is_activity)
		add_worker(p, id, data);
	else
		add_author(p, id, data);
	add_invalidation(p, id, data);
}

static const struct relation *relation_of(const char *kind, enum class from, enum class to)
{
	size_t i = 0;
	while (RULES[i].from != from || RULES[i].to != to ||
	       (RULES[i].kind && strcmp(RULES[i].kind, kind) != 0))
		i++;
	return RULES[i].relation;
}

/* A revert is told with the pull request that it ended. */
static void add_edge(struct provenance *p, yyjson_val *edge)
{
	const char *from = json_get_text(edge, "from"), *to = json_get_text(edge, "to");
	const char *kind = json_get_text(edge, "kind");
	if (strcmp(kind, "reverted_by") == 0)
		return;
	const char *from_kind = kind_of(p, from), *to_kind = kind_of(p, to);
	const struct relation *relation =
		relation_of(kind, class_of_kind(from_kind), class_of_kind(to_kind));
	yyjson_mut_val *record =
		add_relation(p, relation, id_of(p, relation->is_turned ? to : from),
	                     id_of(p, relation->is_turned ? from : to));
	if (relation == &DERIVED && strcmp(to_kind, "paper") == 0)
		add_type(p, record, "prov:PrimarySource");
	add_data(p, record, json_get(edge, "data"));
}

static void add_prefixes(struct provenance *p)
{
	const char *site = process_settings.public_url;
	yyjson_mut_val *prefix = yyjson_mut_obj_add_obj(p->doc, p->root, "prefix");
	site = site[0] ? site : "urn:expops";
	yyjson_mut_obj_add_str(p->doc, prefix, "expops", arena_printf(p->arena, "%s/ns#", site));
	yyjson_mut_obj_add_str(p->doc, prefix, "id", arena_printf(p->arena, "%s/id/", site));
}

static const char *account_name(struct request *rq)
{
	char account[UUID_TEXT_LEN + 1];
	uuid_format(&rq->caller.account, account);
	return arena_printf(rq->arena, "account:%s", account);
}

const char *evidence_provenance(struct request *rq, const char *json)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct provenance p = {
		.arena = rq->arena,
		.doc = doc,
		.root = yyjson_mut_obj(doc),
		.evidence = json_parse_own(rq->arena, json),
		.account = account_name(rq),
	};
	size_t index, count;
	yyjson_val *item;
	p.nodes = json_get(p.evidence, "nodes");
	add_prefixes(&p);
	add_type(&p, add_record(&p, "agent", id_of(&p, p.account)), "prov:Organization");
	yyjson_arr_foreach (p.nodes, index, count, item)
		add_node(&p, item);
	yyjson_arr_foreach (json_get(p.evidence, "edges"), index, count, item)
		add_edge(&p, item);
	return json_write_mut(rq->arena, p.root, NULL);
}
