/** The kinds of endpoints: in which form messages are sent. */
#pragma once

enum endpoint_kind { ENDPOINT_WEBHOOK, ENDPOINT_SLACK, ENDPOINT_EMAIL };

/** Their names, for input tables and as labels of metrics, and NULL. */
extern const char *const ENDPOINT_KINDS[];

/** The kind of this name, which is one of them. */
enum endpoint_kind endpoint_kind_of(const char *name);
