#include "experiment/fields.h"

#include "product/paper_source.h"

const char *const EXPERIMENT_STATUSES[] = {"draft",     "running",   "complete",
                                           "analyzing", "shipped",   "iterating",
                                           "rejected",  "abandoned", NULL};

static const char *const OUTCOMES[] = {"ship", "iterate", "abandon", NULL};
static const char *const CONFIDENCES[] = {"significant", "inconclusive", "not_tested", NULL};
static const char *const SOURCE_TYPES[] = {PAPER_SOURCES(PAPER_SOURCE_TYPE) "code_repo", "ticket",
                                           "manual", NULL};

static const struct field RESOURCE[] = {
	JSON_TEXT("arxiv_id", NULLABLE, 0, 255),
	JSON_TEXT("title", NULLABLE, 0, 1000),
	JSON_LINK("url", NULLABLE),
	FIELD_END,
};

static const struct field METHOD[] = {
	JSON_TEXT("name", OPTIONAL, 0, 0),
	JSON_TEXT("description", NULLABLE, 0, 0),
	FIELD_END,
};

static const struct field LAUNCH_CONTEXT[] = {
	JSON_OBJECT_OF("resource", NULLABLE, RESOURCE),
	JSON_REFERENCE("code_repository", NULLABLE, 2048),
	JSON_REFERENCE("container_image", NULLABLE, 2048),
	JSON_ARRAY_OF("key_methods", NULLABLE, 0, 0, METHOD),
	JSON_TEXT("implementation_plan", NULLABLE, 0, 0),
	JSON_TEXT("task_description", NULLABLE, 0, 0),
	JSON_REFERENCE("target_repo", NULLABLE, 2048),
	JSON_TEXT("base_branch", NULLABLE, 0, 0),
	FIELD_END,
};

static const struct field LINK[] = {
	JSON_TEXT("type", REQUIRED, 1, 64),
	JSON_TEXT("id", NULLABLE, 0, 255),
	JSON_TEXT("title", NULLABLE, 0, 1000),
	JSON_LINK("url", NULLABLE),
	FIELD_END,
};

/* Members that both POST and PUT accept. */
/* clang-format off */
#define WRITABLE                                                                 \
	JSON_ENUM("status", OPTIONAL, EXPERIMENT_STATUSES),                      \
	JSON_TEXT_BYTES("hypothesis", NULLABLE, 0, 10000, 20 << 10),             \
	JSON_ENUM("outcome", NULLABLE, OUTCOMES),                                \
	JSON_TEXT_BYTES("decision", NULLABLE, 0, 10000, 20 << 10),               \
	JSON_FLOAT("observed_delta", NULLABLE, 0, 0),                            \
	JSON_ENUM("delta_confidence", NULLABLE, CONFIDENCES),                    \
	JSON_TEXT("target_metric", NULLABLE, 0, 500),                            \
	JSON_STRINGS("tags", OPTIONAL, 0, 32, 64),                               \
	JSON_URL("pr_url", NULLABLE),                                            \
	JSON_TEXT("pr_status", NULLABLE, 0, 64),                                 \
	JSON_TEXT("external_ticket_id", NULLABLE, 0, 255),                       \
	JSON_TEXT("ticket_source", NULLABLE, 0, 64),                             \
	JSON_URL("ticket_url", NULLABLE),                                        \
	JSON_UUID("project_id", NULLABLE),                                       \
	JSON_OBJECT_OF("launch_context", NULLABLE, LAUNCH_CONTEXT),              \
	JSON_OBJECT("ab_test_config", NULLABLE),                                 \
	JSON_OBJECT("ab_test_results", NULLABLE),                                \
	JSON_ARRAY_OF("linked_resources", OPTIONAL, 0, 100, LINK)
/* What an experiment has besides. */
#define READ_ONLY_FIELDS                                                         \
	READ_ONLY("id"), READ_ONLY("project_name"), READ_ONLY("branch_name"),    \
	READ_ONLY("pipeline_status"), READ_ONLY("history"),                      \
	READ_ONLY("created_at"), READ_ONLY("updated_at"),                        \
	READ_ONLY("delta_source")
/* clang-format on */

/* Events carry it, so it is bounded in bytes too. */
#define SOURCE_REF_MAX 2048

static bool check_source_ref(const char *text, size_t length, const char **ret_message)
{
	*ret_message = "must have at most 2048 bytes of UTF-8";
	return length <= SOURCE_REF_MAX && url_is_safe_reference(text, length, ret_message);
}

const struct field EXPERIMENT_CREATE_FIELDS[] = {
	JSON_TEXT("name", REQUIRED | TRIMMED, 1, 500),
	WRITABLE,
	JSON_ENUM("source_type", OPTIONAL, SOURCE_TYPES),
	{IN_BODY, FIELD_TEXT, "source_ref", FIELD_NOWHERE, NULLABLE, 0, SOURCE_REF_MAX,
         .check = check_source_ref},
	JSON_TEXT("created_via", OPTIONAL, 1, 64),
	READ_ONLY_FIELDS,
	FIELD_END,
};

const struct field EXPERIMENT_UPDATE_FIELDS[] = {
	PATH_UUID(struct experiment_path, id, "experiment_id"),
	JSON_TEXT("name", TRIMMED, 1, 500),
	WRITABLE,
	JSON_BOOL("restart", OPTIONAL),
	READ_ONLY_FIELDS,
	READ_ONLY("source_type"),
	READ_ONLY("source_ref"),
	READ_ONLY("created_via"),
	FIELD_END,
};

const struct field PROJECT_CREATE_FIELDS[] = {
	JSON_TEXT("name", REQUIRED | TRIMMED, 1, 200),
	JSON_TEXT("description", NULLABLE, 0, 10000),
	PROJECT_READ_ONLY_FIELDS,
	FIELD_END,
};
