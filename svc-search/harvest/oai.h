/** Reads answers of an OAI-PMH 2.0 server in arXiv's metadata format (`arXiv`).
 * Source: https://www.openarchives.org/OAI/openarchivesprotocol.html */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "harvest/source.h"

#include <stddef.h>

/** A page of ListRecords. */
struct oai_page {
	struct source_page list; /* without is_expired and refusal */
	const char *error;       /* code of the error element: `badResumptionToken`; NULL: none */
	const char *error_text;  /* content of the error element */
};

/** Read a page, `length` bytes of XML; everything is in the arena. A page with records that is not
 * well-formed is repaired (xml_repair.h); if that does not help, its records are read one by one,
 * and those that are not well-formed have a fault. ERR_MALFORMED: the rest of the page is not
 * well-formed, has a document type, or is not an OAI-PMH answer; *ret_why says why. */
enum err_code oai_parse(struct arena *arena, const char *xml, size_t length,
                        struct oai_page *ret_page, const char **ret_why);
