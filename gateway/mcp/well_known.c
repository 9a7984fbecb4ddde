#include "input/input.h"
#include "mcp/mcp.h"

void oauth_metadata_get(struct request *rq)
{
	request_input_none(rq);
	raise_error(rq, ERR_NOT_FOUND,
	            "this server has no OAuth: send a key in the field Authorization, as "
	            "\"Authorization: Bearer usr_...\"");
}
