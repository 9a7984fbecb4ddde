/** The members of the data of an event of the code host (code_host_event.h): how each is read from
 * a delivery, and what its name is. */
#pragma once

#include <yyjson.h>

#include <stdbool.h>
#include <stddef.h>

#define EVENT_LINK_MAX 2048 /* bytes */

enum event_member {
	MEMBER_NUMBER,
	MEMBER_URL,
	MEMBER_STATE,
	MEMBER_MERGED,
	MEMBER_BRANCH,
	MEMBER_RUN_ID,
	MEMBER_WORKFLOW,
	MEMBER_CONCLUSION,
	MEMBER_OCCURRED_AT,
	MEMBER_COMMIT,
	EVENT_MEMBERS
};

/** The name that it has in the event. */
const char *event_member_name(enum event_member member);

/** The member of a value of the delivery. NULL: the value is absent or has another form. `value`
 * may be NULL; the texts are borrowed from it. */
yyjson_mut_val *event_member_read(yyjson_mut_doc *doc, enum event_member member, yyjson_val *value);

/** Whether a text of at most `most` bytes has only small letters, digits and `_`. */
bool event_word_is_valid(const char *text, size_t length, size_t most);
