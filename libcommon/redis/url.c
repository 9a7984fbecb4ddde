#include "redis/url.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 6379

/* A whole decimal number up to `max`. */
static bool read_number(const char *text, long max, long *ret_number)
{
	char *end;
	if (!isdigit((unsigned char)text[0]) || strlen(text) > 9)
		return false;
	long number = strtol(text, &end, 10);
	if (*end != '\0' || number > max)
		return false;
	*ret_number = number;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decoding in place. */
static bool decode(char *text)
{
	char *out = text;
	for (char *in = text; *in != '\0'; in++) {
		if (*in != '%') {
			*out++ = *in;
			continue;
		}
		int high = hex_digit(in[1]);
		int low = high < 0 ? -1 : hex_digit(in[2]);
		if (low < 0 || (high == 0 && low == 0))
			return false;
		*out++ = (char)(high << 4 | low);
		in += 2;
	}
	*out = '\0';
	return true;
}

static bool read_db(const char *text, int *ret_db)
{
	long db;
	if (!read_number(text, INT_MAX, &db))
		return false;
	*ret_db = (int)db;
	return true;
}

static bool read_unix(char *rest, struct redis_url *url)
{
	url->path = rest;
	char *query = strchr(rest, '?');
	if (query) {
		*query++ = '\0';
		if (strncmp(query, "db=", 3) != 0 || !read_db(query + 3, &url->db))
			return false;
	}
	return url->path[0] == '/';
}

static bool read_login(char *login, struct redis_url *url)
{
	char *colon = strchr(login, ':');
	if (!colon)
		return false;
	*colon = '\0';
	url->user = login[0] != '\0' ? login : NULL;
	url->password = colon + 1;
	return colon[1] != '\0' && decode(url->password) && (!url->user || decode(url->user));
}

static bool read_host(char *rest, struct redis_url *url)
{
	char *behind = rest;
	url->host = rest;
	if (rest[0] == '[') {
		url->host = rest + 1;
		behind = strchr(rest, ']');
		if (!behind)
			return false;
		*behind++ = '\0';
	} else {
		behind += strcspn(rest, ":");
	}
	if (*behind == ':') {
		long port;
		*behind++ = '\0';
		if (!read_number(behind, UINT16_MAX, &port) || port == 0)
			return false;
		url->port = (uint16_t)port;
	} else if (*behind != '\0') {
		return false;
	}
	return url->host[0] != '\0';
}

static bool read_tcp(char *rest, struct redis_url *url)
{
	char *at = strrchr(rest, '@');
	if (at) {
		*at = '\0';
		if (!read_login(rest, url))
			return false;
		rest = at + 1;
	}
	char *slash = strchr(rest, '/');
	if (slash) {
		*slash++ = '\0';
		if (*slash != '\0' && !read_db(slash, &url->db))
			return false;
	}
	return read_host(rest, url);
}

enum err_code redis_url_parse(const char *text, struct redis_url *ret_url)
{
	static const char TCP[] = "redis://", TLS[] = "rediss://", UNIX[] = "unix:";
	struct redis_url url = {.text = strdup(text), .port = DEFAULT_PORT};
	require(url.text);
	bool is_good = false;
	url.is_tls = strncmp(text, TLS, strlen(TLS)) == 0;
	if (url.is_tls)
		is_good = read_tcp(url.text + strlen(TLS), &url);
	else if (strncmp(text, TCP, strlen(TCP)) == 0)
		is_good = read_tcp(url.text + strlen(TCP), &url);
	else if (strncmp(text, UNIX, strlen(UNIX)) == 0)
		is_good = read_unix(url.text + strlen(UNIX), &url);
	if (!is_good) {
		free(url.text);
		return ERR_INVALID;
	}
	*ret_url = url;
	return ERR_NONE;
}

void redis_url_free(struct redis_url *url)
{
	if (url->password)
		explicit_bzero(url->password, strlen(url->password));
	free(url->text);
	*url = (struct redis_url){0};
}
