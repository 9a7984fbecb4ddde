#include "client/mail.h"

#include "base/base.h"
#include "client/mail_header.h"
#include "client/transfer.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "observe/trace.h"

#include <string.h>
#include <sys/socket.h>

#define PROTOCOLS "smtp,smtps"

static const long USE_SSL[] = {
	[MAIL_TLS_REQUIRED] = CURLUSESSL_ALL,
	[MAIL_TLS_OPPORTUNISTIC] = CURLUSESSL_TRY,
	[MAIL_TLS_OFF] = CURLUSESSL_NONE,
};

/* A message under way. */
struct sending_mail {
	struct transfer *transfer;
	struct mail_reply *reply;
	curl_socket_t socket; /* of the connection */
	bool is_reply_new;    /* the next line begins a reply */
	bool is_over;         /* the reply that counts is there; that to QUIT may follow */
};

/* CURLOPT_SOCKOPTFUNCTION. Addresses are tried one after the other, so the last socket is that of
 * the connection. */
static int on_socket(void *arg, curl_socket_t socket, curlsocktype purpose attr_unused)
{
	struct sending_mail *sending = arg;
	sending->socket = socket;
	return CURL_SOCKOPT_OK;
}

/* CURLOPT_DEBUGFUNCTION: looks only at the names of commands, since a log-in follows its name. */
static int on_command(CURL *easy attr_unused, curl_infotype type, char *data, size_t length,
                      void *arg)
{
	struct sending_mail *sending = arg;
	if (type != CURLINFO_HEADER_OUT || length < 4)
		return 0;
	if (strncmp(data, "RCPT", 4) == 0)
		sending->reply->stage = MAIL_RECIPIENT;
	if (strncmp(data, "DATA", 4) == 0)
		sending->reply->stage = MAIL_CONTENT;
	sending->is_reply_new = true;
	return 0;
}

static void add_reply_line(struct mail_reply *reply, const char *line, size_t length)
{
	size_t used = strlen(reply->text), room = MAIL_REPLY_MAX - used;
	memcpy(reply->text + used, line, MIN_OF(length, room));
	reply->text[used + MIN_OF(length, room)] = 0;
}

/* The code that a line of a reply begins with; 0: none. */
static int reply_code(const char *line, size_t length)
{
	int code = 0;
	for (size_t i = 0; i < 3; i++) {
		if (i == length || line[i] < '0' || line[i] > '9')
			return 0;
		code = code * 10 + line[i] - '0';
	}
	return code;
}

/* Whether nothing but QUIT follows: the message was taken, or it or its recipient was refused. */
static bool ends_mail(const struct mail_reply *reply)
{
	return (reply->stage != MAIL_CONNECTING && reply->status >= 400) ||
	       (reply->stage == MAIL_CONTENT && reply->status < 300);
}

/* CURLOPT_HEADERFUNCTION: a line of a reply. Behind the last libcurl says QUIT, and would block
 * until that is answered, so the socket reads no more: then it does not wait. */
static size_t on_reply_line(char *line, size_t one, size_t length, void *arg)
{
	struct sending_mail *sending = arg;
	size_t bytes = one * length;
	bool is_last = bytes < 4 || line[3] != '-';
	if (sending->is_over)
		return bytes;
	if (sending->is_reply_new)
		sending->reply->text[0] = 0;
	sending->is_reply_new = is_last;
	sending->reply->status = reply_code(line, bytes);
	add_reply_line(sending->reply, line, bytes);
	sending->is_over = is_last && ends_mail(sending->reply);
	if (sending->is_over)
		shutdown(sending->socket, SHUT_RD);
	return bytes;
}

static void add_part(curl_mime *parts, const char *text, const char *type)
{
	curl_mimepart *part = curl_mime_addpart(parts);
	require(part && curl_mime_data(part, text, CURL_ZERO_TERMINATED) == CURLE_OK);
	curl_mime_type(part, type);
	curl_mime_encoder(part, "quoted-printable");
}

/* multipart/alternative (RFC 2046 section 5.1.4), the plainest first; libcurl adds the boundary. */
static void set_content(struct transfer *transfer, const struct mail *mail)
{
	transfer->content = curl_mime_init(transfer->easy);
	require(transfer->content);
	add_part(transfer->content, mail->text, "text/plain; charset=utf-8");
	add_part(transfer->content, mail->html, "text/html; charset=utf-8");
	transfer_add_line(transfer, "Content-Type: multipart/alternative");
	for (size_t i = 0; i < mail->field_count; i++)
		transfer_add_line(transfer, mail_header_write(transfer->arena, mail->fields[i].name,
		                                              mail->fields[i].value));
	curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->fields);
	curl_easy_setopt(transfer->easy, CURLOPT_MIMEPOST, transfer->content);
}

static void set_server(CURL *easy, const struct mail_server *server)
{
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_USE_SSL, USE_SSL[server->tls]);
	if (server->ca_file)
		curl_easy_setopt(easy, CURLOPT_CAINFO, server->ca_file);
	if (server->user) {
		curl_easy_setopt(easy, CURLOPT_USERNAME, server->user);
		curl_easy_setopt(easy, CURLOPT_PASSWORD, server->password);
	}
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
}

static void set_callbacks(struct sending_mail *sending, uint64_t timeout_ms)
{
	CURL *easy = sending->transfer->easy;
	curl_easy_setopt(easy, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, sending);
	curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_command);
	curl_easy_setopt(easy, CURLOPT_DEBUGDATA, sending);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_reply_line);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, sending);
}

static struct transfer *start(struct request *rq, const struct mail_server *server,
                              const struct mail *mail, uint64_t timeout_ms,
                              struct sending_mail *sending)
{
	struct transfer *transfer = transfer_new(rq->worker->fetch, timeout_ms);
	struct curl_slist *recipients = curl_slist_append(NULL, mail->to);
	sending->transfer = transfer;
	require(recipients);
	transfer->recipients = recipients;
	set_server(transfer->easy, server);
	set_callbacks(sending, timeout_ms);
	set_content(transfer, mail);
	curl_easy_setopt(transfer->easy, CURLOPT_MAIL_FROM, mail->from);
	curl_easy_setopt(transfer->easy, CURLOPT_MAIL_RCPT, recipients);
	return transfer_begin(transfer, server->url);
}

/* The message was sent to its end, but for the reply to it. */
static bool is_sent(const struct sending_mail *sending)
{
	return sending->reply->stage == MAIL_CONTENT && sending->reply->status == 354;
}

static enum err_code result_code(const struct sending_mail *sending)
{
	switch (sending->transfer->result) {
	case CURLE_OK:
		return ERR_NONE;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return ERR_UNAVAILABLE;
	case CURLE_OPERATION_TIMEDOUT:
		return is_sent(sending) ? ERR_TIMEOUT : ERR_UNAVAILABLE;
	default:
		break;
	}
	if (sending->reply->status >= 400)
		return ERR_UPSTREAM;
	return is_sent(sending) ? ERR_UNCERTAIN : ERR_UPSTREAM;
}

static enum err_code run(struct request *rq, struct sending_mail *sending, const char **ret_why)
{
	struct transfer *transfer = sending->transfer;
	enum err_code code = transfer_wait(transfer);
	if (code == ERR_NONE) {
		code = result_code(sending);
		*ret_why = arena_strdup(rq->arena, transfer->error[0]
		                                           ? transfer->error
		                                           : curl_easy_strerror(transfer->result));
	}
	struct arena *arena = transfer->arena;
	transfer_end(transfer);
	arena_free(arena);
	return code;
}

enum err_code mail_send_try(struct request *rq, const struct mail_server *server,
                            const struct mail *mail, uint64_t timeout_ms,
                            struct mail_reply *ret_reply, const char **ret_why)
{
	struct sending_mail sending = {.reply = ret_reply, .socket = -1, .is_reply_new = true};
	const char *traceparent = rq->traceparent;
	request_require_no_transaction(rq);
	rq->has_effects = true;
	*ret_reply = (struct mail_reply){0};
	*ret_why = "";
	struct span *span = span_begin(rq->arena, SPAN_CLIENT, rq->id, &traceparent);
	enum err_code code = ERR_UPSTREAM;
	if (start(rq, server, mail, timeout_ms, &sending))
		code = run(rq, &sending, ret_why);
	span_end(span, "SMTP", code != ERR_NONE, f_int("smtp.reply", ret_reply->status),
	         f_text("error.type", code ? err_info(code)->slug : NULL));
	return code;
}
