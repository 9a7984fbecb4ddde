#include "retention/retention.h"

#define BEFORE " < now() - make_interval(days => $1)"

static int64_t key_days;

const struct setting KEY_RETENTION_SETTINGS[] = {
	SETTING_INT(&key_days, "KEY_DAYS", "800", 91, 36500,
                    "Days for which keys and invitations are kept after their end."),
	SETTING_END,
};

const struct retained_table ACCOUNT_TABLES[] = {
	TABLE_DELETED("api_key", "created_at", "KEY_DAYS",
                      "after it was revoked or has expired; others as their account wants",
                      "least(t.revoked_at, t.deleted_at, t.expires_at)" BEFORE),
	TABLE_DELETED("invitation", "created_at", "KEY_DAYS", "after it has expired",
                      "t.expires_at" BEFORE),
	TABLE_AGES("key_usage", "day", NULL, "90 days"),
	TABLE_DELETED("key_change", "at", NULL, "a day", "t.at < now() - interval '1 day'"),
	TABLE_AGES("login", "created_at", NULL, "after it has expired; by the next log-ins"),
	TABLE_AGES("invitation_mail_count", "since", NULL, "a day; by the next mails"),
	TABLE_AGES("mcp_run_start", "at", NULL, "10 minutes; by the next runs"),
	TABLE_BOUND("session", "20 a person; with the key"),
	TABLE_BOUND("account", "one row an account"),
	TABLE_BOUND("api_key_person", "with the key"),
	TABLE_BOUND("former_key", "170 bytes a personal key that was deleted; with the account"),
	TABLE_BOUND("former_member", "one row a person and account that they left"),
	TABLE_BOUND("identity", "one row a person and issuer"),
	TABLE_BOUND("login_key", "with the key: one of a member"),
	TABLE_BOUND("mcp_confirm_key", "one row"),
	TABLE_BOUND("member", "one row a person and account"),
	TABLE_BOUND("person", "with the last account, as persons of no account are deleted"),
	TABLES_END,
};
