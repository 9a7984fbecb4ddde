import { useQuery } from "@tanstack/preact-query";

import { providerLink, waysToLogIn } from "../../api/login";
import { text } from "../../text";

const JOIN = "/console/join";

/** Where the log-in leads to. The token of an invitation, which is in no address but the link's own, would be lost on the way. */
function target(): string {
  const { pathname, search } = location;
  return pathname === JOIN || search.includes("//") || search.includes("\\") ? "/console/" : pathname + search;
}

/** Log in at the provider, if there is one. */
export function Provider() {
  const { data } = useQuery(waysToLogIn);
  if (!data?.methods.includes("oidc")) return null;
  return (
    <>
      <p>
        <a class="button" href={providerLink(target())}>
          {text.login.provider(data.oidc_name ?? "")}
        </a>
      </p>
      {location.pathname === JOIN && <p class="small quiet">{text.login.invited}</p>}
      {!data.methods.includes("key") && <p class="small quiet">{text.login.operators}</p>}
    </>
  );
}
