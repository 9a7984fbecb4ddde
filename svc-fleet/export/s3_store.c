/* S3 over libcurl, which signs the requests (Signature Version 4). A file is written to the disk
 * first, since its length and its hash, which is signed, have to be known, and then sent as one
 * object. Hashing and the requests run on another thread, as they may take minutes. */
#include "base/base.h"
#include "base/terminal.h"
#include "crypto/crypto.h"
#include "export/store.h"
#include "loop/wait.h"

#include <curl/curl.h>
#include <uv.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPTS         5
#define PAUSE_MS         250 /* before the second attempt; then three times as long each time */
#define CONNECT_MS       10000L
#define STALLED_S        60L             /* with less than a byte a second */
#define OBJECT_BYTES_MAX ((long)5 << 30) /* of one request, by the documentation of S3 */
#define ANSWER_BYTES_MAX 4096
#define READ_BYTES       4096

struct s3_request {
	const struct store *store;
	const char *url, *scope; /* CURLOPT_AWS_SIGV4: `aws:amz:REGION:s3` */
	FILE *file;              /* to send; NULL: HEAD */
	long length;
	char sha256[SHA256_HEX_LEN + 1]; /* of the content */
	CURLcode code;
	long status;
	char answer[ANSWER_BYTES_MAX]; /* its beginning */
	size_t answer_length;
	char error[CURL_ERROR_SIZE];
};

static size_t receive(char *data, size_t size, size_t count, void *user)
{
	struct s3_request *request = user;
	size_t room = sizeof(request->answer) - 1 - request->answer_length;
	size_t length = MIN_OF(size * count, room);
	memcpy(request->answer + request->answer_length, data, length);
	request->answer_length += length;
	request->answer[request->answer_length] = '\0';
	return size * count;
}

/* The hash is signed, and the store compares it with what arrives. libcurl before 8.1 does not send
 * it by itself, and later ones not of a file. */
static struct curl_slist *headers_of(const struct s3_request *request)
{
	char hash[sizeof("x-amz-content-sha256: ") + SHA256_HEX_LEN];
	snprintf(hash, sizeof(hash), "x-amz-content-sha256: %s", request->sha256);
	struct curl_slist *headers = curl_slist_append(NULL, hash);
	if (request->file)
		headers = curl_slist_append(headers, "Content-Type: application/gzip");
	require(headers);
	return headers;
}

static void set_upload(CURL *curl, struct s3_request *request)
{
	rewind(request->file);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_READDATA, request->file);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->length);
}

static void set_options(CURL *curl, struct s3_request *request)
{
	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, request->scope);
	curl_easy_setopt(curl, CURLOPT_USERNAME, request->store->key_id);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, request->store->secret);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, STALLED_S);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, request->error);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, request);
	if (request->file)
		set_upload(curl, request);
	else
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
}

static void perform(void *arg)
{
	struct s3_request *request = arg;
	CURL *curl = curl_easy_init();
	require(curl);
	request->answer_length = 0;
	request->answer[0] = request->error[0] = '\0';
	set_options(curl, request);
	struct curl_slist *headers = headers_of(request);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	request->code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &request->status);
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
}

/* A part of the answer's XML, `<Code>NoSuchBucket</Code>`; "": it has none. */
static const char *answer_part(struct request *rq, const struct s3_request *request,
                               const char *element)
{
	const char *open = arena_printf(rq->arena, "<%s>", element);
	const char *begin = strstr(request->answer, open);
	const char *end = begin ? strstr(begin, "</") : NULL;
	if (!end)
		return "";
	begin += strlen(open);
	const char *part = arena_printf(rq->arena, "%.*s", (int)(end - begin), begin);
	return terminal_text(rq->arena, part);
}

static attr_noreturn void raise_failure(struct request *rq, const struct s3_request *request)
{
	if (request->code)
		raise_error(rq, ERR_UPSTREAM, "%s: %s", request->url,
		            *request->error ? request->error : curl_easy_strerror(request->code));
	raise_error(rq, request->status >= 500 ? ERR_UPSTREAM : ERR_INVALID,
	            "%s: the store answered %ld %s %s", request->url, request->status,
	            answer_part(rq, request, "Code"), answer_part(rq, request, "Message"));
}

/* S3 asks to slow down with 503, and may answer 500 at any time: both are to be tried again. */
static bool is_transient(const struct s3_request *request)
{
	return request->code != CURLE_OK || request->status >= 500 || request->status == 429;
}

/* Returns the status, which is below 500. Raises when there is none. */
static long run(struct request *rq, struct s3_request *request)
{
	uint64_t pause_ms = PAUSE_MS;
	for (int attempt = 1;; attempt++, pause_ms *= 3) {
		fiber_offload(rq, LANE_LONG, perform, request);
		if (!is_transient(request))
			return request->status;
		if (attempt == ATTEMPTS)
			raise_failure(rq, request);
		fiber_sleep(rq, pause_ms);
	}
}

/* Hash the file. A failure to read it is left in its error indicator. */
static void hash_file(void *arg)
{
	struct s3_request *request = arg;
	struct sha256 *hash = sha256_new();
	char data[READ_BYTES];
	uint8_t digest[SHA256_LEN];
	size_t length;
	rewind(request->file);
	while ((length = fread(data, 1, sizeof(data), request->file)) > 0)
		sha256_add(hash, data, length);
	sha256_finish(hash, digest);
	hex_encode(digest, sizeof(digest), request->sha256);
}

static struct s3_request *request_to(struct request *rq, const struct store *store,
                                     const char *name, FILE *file)
{
	struct s3_request *request = arena_new_of(rq->arena, struct s3_request);
	request->store = store;
	request->url = arena_printf(rq->arena, "%s/%s%s%s%s", store->url, store->bucket,
	                            *name ? "/" : "", *name ? store->prefix : "", name);
	request->scope = arena_printf(rq->arena, "aws:amz:%s:s3", store->region);
	request->file = file;
	sha256_hex("", 0, request->sha256);
	return request;
}

/* That the bucket is there and the key may use it, before anything is read. HEAD has no answer that
 * says why. */
static void s3_open(struct request *rq, const struct store *store)
{
	struct s3_request *request = request_to(rq, store, "", NULL);
	long status = run(rq, request);
	if (status == 404)
		raise_error(rq, ERR_INVALID, "%s: there is no such bucket", store->target);
	if (status == 401 || status == 403)
		raise_error(rq, ERR_INVALID,
		            "%s: the store refuses EXPORT_S3_KEY_ID and EXPORT_S3_SECRET (%ld)",
		            store->target, status);
	if (status / 100 != 2)
		raise_failure(rq, request);
}

static bool s3_has(struct request *rq, const struct store *store, const char *name)
{
	struct s3_request *request = request_to(rq, store, name, NULL);
	long status = run(rq, request);
	if (status / 100 != 2 && status != 404)
		raise_failure(rq, request);
	return status != 404;
}

/* Without a name, so that nothing stays when the process is killed. */
static struct store_file *s3_begin(struct request *rq, const struct store *store, const char *name)
{
	(void)store, (void)name;
	struct store_file *made = arena_new_of(rq->arena, struct store_file);
	const char *folder = getenv("TMPDIR");
	char *path =
		arena_printf(rq->arena, "%s/svc-fleet-export-XXXXXX", folder ? folder : "/tmp");
	int descriptor = mkstemp(path);
	FILE *file = descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
	if (!file)
		raise_error(rq, ERR_INVALID, "%s: %s", path,
		            uv_strerror(uv_translate_sys_error(errno)));
	unlink(path);
	made->file = file;
	return made;
}

static void s3_keep(struct request *rq, const struct store *store, const char *name,
                    const struct store_file *kept)
{
	FILE *file = kept->file;
	struct s3_request *request = request_to(rq, store, name, file);
	if (fflush(file) != 0)
		raise_error(rq, ERR_INVALID, "%s: %s", name,
		            uv_strerror(uv_translate_sys_error(errno)));
	request->length = ftell(file);
	if (request->length > OBJECT_BYTES_MAX)
		raise_error(rq, ERR_INVALID,
		            "%s: has more than 5 GiB, which S3 takes at once; "
		            "export to a folder",
		            name);
	fiber_offload(rq, LANE_LONG, hash_file, request);
	if (ferror(file))
		raise_error(rq, ERR_INVALID, "%s: cannot be read again", name);
	if (run(rq, request) / 100 != 2)
		raise_failure(rq, request);
}

const struct store_kind S3_STORE = {s3_open, s3_has, s3_begin, s3_keep};
