/** Answers of an OAI-PMH server (version 2.0) with arXiv's own metadata format (`arXiv`). */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "ingest/metadata.h"

#include <stdbool.h>
#include <stddef.h>

struct oai_record {
	struct metadata paper;
	bool is_deleted; /* only paper.id is set */
	struct oai_record *next;
};

/** A page of ListRecords. */
struct oai_page {
	struct oai_record *records;
	size_t count;
	const char *token; /* resumptionToken; NULL: this is the last page */
	long complete;     /* completeListSize; 0: not said */
	const char *error; /* code of the error element: `badResumptionToken`; NULL: none */
	const char *error_text;
};

/** Read a page; everything lives in the arena.
 * ERR_MALFORMED: not well-formed XML, one with a document type, or no OAI-PMH answer; *ret_why says
 * where. */
enum err_code oai_parse(struct arena *arena, const char *xml, size_t length,
                        struct oai_page *ret_page, const char **ret_why);
