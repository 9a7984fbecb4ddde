/** The kinds of events of the code host that are used, and where the members of each are in a
 * delivery. */
#pragma once

#include "webhook/event_member.h"

#define EVENT_MEMBER_BIT(member) (1U << (member))

struct event_kind {
	const char *event;
	const char *paths[EVENT_MEMBERS]; /* where a member is in the delivery; NULL: it is null */
	unsigned required;                /* bits of the members without which it says nothing */
	bool has_no_action;
	bool is_of_installation; /* and of the repositories that it names; the others are of one */
	bool may_move_repo;      /* its name, owner or existence may have changed */
};

/** NULL: events of this name are not used. */
const struct event_kind *event_kind_of(const char *event);
