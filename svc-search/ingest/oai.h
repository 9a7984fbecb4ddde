/** Reads answers of an OAI-PMH 2.0 server in arXiv's metadata format (`arXiv`).
 * Source: https://www.openarchives.org/OAI/openarchivesprotocol.html */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "ingest/metadata.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

struct oai_record {
	struct metadata paper;
	bool is_deleted;   /* only paper.id is set */
	const char *fault; /* why it cannot be read; only paper.id can be set then. NULL: it can */
	STAILQ_ENTRY(oai_record) entry;
};

STAILQ_HEAD(oai_records, oai_record);

/** A page of ListRecords. */
struct oai_page {
	struct oai_records records;
	size_t count;           /* of `records` */
	const char *token;      /* resumptionToken; NULL: this is the last page */
	long complete;          /* completeListSize; 0: not given */
	const char *error;      /* code of the error element: `badResumptionToken`; NULL: none */
	const char *error_text; /* content of the error element */
};

/** Read a page, `length` bytes of XML; everything is in the arena. A page with records that is not
 * well-formed is repaired (xml_repair.h); if that does not help, its records are read one by one,
 * and those that are not well-formed have a fault. ERR_MALFORMED: the rest of the page is not
 * well-formed, has a document type, or is not an OAI-PMH answer; *ret_why says why. */
enum err_code oai_parse(struct arena *arena, const char *xml, size_t length,
                        struct oai_page *ret_page, const char **ret_why);
