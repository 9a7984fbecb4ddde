#include "app/app_jwt.h"

#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "json/json.h"
#include "loop/wait.h"
#include "registration/registration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BACK_S     60  /* iat */
#define LIFETIME_S 540 /* exp */

static const char *app_id, *app_key;
static struct rsa_key *key;

const struct setting APP_JWT_SETTINGS[] = {
	SETTING_TEXT(&app_id, "CODE_HOST_APP_ID", "",
                     "Id or client id of the app at the code host; empty: it is the one that POST "
                     "/github/app/created has registered."),
	SETTING_SECRET(&app_key, "CODE_HOST_APP_KEY", "",
                       "Private key of the app, RSA in PEM; line ends may be written as \\n."),
	SETTING_END,
};

/* PEM with real line ends. */
static char *unescape_lines(struct arena *arena, const char *text)
{
	char *pem = arena_alloc(arena, strlen(text) + 1), *to = pem;
	for (const char *at = text; *at; at++) {
		bool is_escaped = at[0] == '\\' && at[1] == 'n';
		*to++ = is_escaped ? '\n' : *at;
		at += is_escaped;
	}
	return pem;
}

enum err_code app_jwt_init(void)
{
	if (!app_id[0] != !app_key[0]) {
		fprintf(stderr,
		        "%s: must be set too: CODE_HOST_APP_ID and CODE_HOST_APP_KEY "
		        "together name the app, in place of a registered one\n",
		        app_id[0] ? "CODE_HOST_APP_KEY" : "CODE_HOST_APP_ID");
		return ERR_INVALID;
	}
	if (!app_key[0])
		return ERR_NONE;
	struct arena *arena = arena_new_wiped();
	key = rsa_key_new(unescape_lines(arena, app_key));
	arena_free(arena);
	if (key)
		return ERR_NONE;
	fprintf(stderr, "CODE_HOST_APP_KEY: is not an RSA private key in PEM\n");
	return ERR_INVALID;
}

bool app_is_of_settings(void)
{
	return app_id[0];
}

const char *app_id_get(struct request *rq)
{
	if (app_is_of_settings())
		return app_id;
	const struct registration *app = registration_get(rq);
	return app ? app->app_id : NULL;
}

bool app_is_configured(struct request *rq)
{
	return app_id_get(rq);
}

/* What a JWT is made of. */
struct signer {
	const char *app_id;
	const char *pem; /* of the registered app; NULL: `key` signs */
};

static struct signer signer_get(struct request *rq)
{
	if (app_is_of_settings())
		return (struct signer){.app_id = app_id};
	struct registration_secrets secrets;
	const struct registration *app = registration_open(rq, &secrets);
	if (!app)
		raise_error(rq, ERR_NOT_CONFIGURED, "the code-host app is not configured");
	return (struct signer){.app_id = app->app_id, .pem = secrets.key};
}

struct signature {
	const char *text;
	const char *pem;
	uint8_t bytes[RSA_SIGNATURE_MAX];
	size_t length;
};

static void sign_on_thread(void *arg)
{
	struct signature *signature = arg;
	struct rsa_key *own = signature->pem ? rsa_key_new(signature->pem) : NULL;
	if (own || !signature->pem)
		signature->length = rsa_sign_sha256(own ? own : key, signature->text,
		                                    strlen(signature->text), signature->bytes);
	rsa_key_free(own);
}

/* The header and the claims of a JWT that is made now. */
static const char *unsigned_jwt(struct arena *arena, const char *issuer, int64_t now_s)
{
	static const char HEADER[] = "{\"alg\":\"RS256\",\"typ\":\"JWT\"}";
	struct buf claims = {.arena = arena};
	buf_printf(&claims, "{\"iat\":%" PRId64 ",\"exp\":%" PRId64 ",\"iss\":", now_s - BACK_S,
	           now_s + LIFETIME_S);
	json_quote(&claims, issuer, strlen(issuer));
	buf_puts(&claims, "}");
	return arena_printf(arena, "%s.%s", base64url_encode(arena, HEADER, strlen(HEADER)),
	                    base64url_encode(arena, claims.data, claims.length));
}

struct code_host_auth app_auth(struct request *rq)
{
	struct signer signer = signer_get(rq);
	struct signature *signature = arena_new_of(rq->arena, struct signature);
	signature->text = unsigned_jwt(rq->arena, signer.app_id, time_now_ms() / 1000);
	signature->pem = signer.pem;
	fiber_offload(rq, LANE_SHORT, sign_on_thread, signature);
	if (signature->length == 0)
		raise_error(rq, ERR_CONFLICT, "the key of the registered app is no RSA key");
	return (struct code_host_auth){
		.token = arena_printf(rq->arena, "%s.%s", signature->text,
	                              base64url_encode(rq->arena, signature->bytes,
	                                               signature->length)),
		.limit = "app",
		.is_of_app = true,
	};
}
