/** Messages by SMTP (RFC 5321), over libcurl on the worker's loop. Each goes to one recipient over
 * a connection of its own. */
#pragma once

#include "http/head.h"
#include "loop/request.h"

#include <stddef.h>
#include <stdint.h>

/** Whether the connection is encrypted, where the URL does not say so by `smtps:`. The server's
 * certificate is verified wherever there is one. */
enum mail_tls {
	MAIL_TLS_REQUIRED,      /* STARTTLS, or nothing is sent */
	MAIL_TLS_OPPORTUNISTIC, /* STARTTLS where the server offers it */
	MAIL_TLS_OFF,
};

struct mail_server {
	const char *url;             /* smtp://host:587 or smtps://host:465 */
	const char *user, *password; /* NULL: without log-in */
	const char *ca_file;         /* authorities, PEM; NULL: those of the system */
	enum mail_tls tls;
};

/** A message of two forms of one text, which may begin and end with what others have written. */
struct mail {
	const char *from, *to;           /* addresses that mail_address_check() accepts */
	const struct http_field *fields; /* values may be texts of others: mail_header_write() */
	size_t field_count;
	const char *text, *html; /* UTF-8, with CRLF at the ends of lines */
};

/** The command to which the server's last reply belongs. */
enum mail_stage {
	MAIL_CONNECTING, /* any before the message: the greeting, STARTTLS, the log-in, MAIL */
	MAIL_RECIPIENT,  /* RCPT: the reply is about the recipient's address */
	MAIL_CONTENT,    /* DATA: the reply is about the message */
};

#define MAIL_REPLY_MAX 1024

struct mail_reply {
	int status; /* RFC 5321 section 4.2; 0: none */
	enum mail_stage stage;
	char text[MAIL_REPLY_MAX + 1]; /* its lines, as the server wrote them */
};

/** Send a message and wait until the server has taken it. Suspends. `why` gets libcurl's words if
 * there was no reply.
 *
 * ERR_UPSTREAM: the server refused it, for now if the reply's status is below 500, or is no SMTP
 * server, or TLS failed; ERR_UNAVAILABLE: no connection; ERR_UNCERTAIN: the connection broke behind
 * the end of the message; ERR_TIMEOUT; or the reason of a cancellation. */
enum err_code mail_send_try(struct request *rq, const struct mail_server *server,
                            const struct mail *mail, uint64_t timeout_ms,
                            struct mail_reply *ret_reply, const char **ret_why);
