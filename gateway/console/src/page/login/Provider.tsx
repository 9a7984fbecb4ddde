import { useQuery } from "@tanstack/preact-query";

import { providerLink, waysToLogIn } from "../../api/login";
import { text } from "../../text";

const JOIN = "/console/join";

/** Where the log-in leads to. */
function target(): string {
  const { pathname, search } = location;
  return search.includes("//") || search.includes("\\") ? "/console/" : pathname + search;
}

/** From the page of an invitation, whose token follows #, the log-in accepts it; it is then used, and its page of no use. */
function way(): string {
  const invitation = location.pathname === JOIN ? location.hash.slice(1) : "";
  return invitation === "" ? providerLink(target()) : providerLink("/console/", { invitation });
}

/** Log in at the provider, if there is one; aside: in another window, so that the page stays, which hears of it. */
export function Provider({ isAside = false }: { isAside?: boolean }) {
  const { data } = useQuery(waysToLogIn);
  if (!data?.methods.includes("oidc")) return null;
  return (
    <>
      <p>
        <a class="button" href={way()} {...(isAside && { target: "_blank", rel: "noopener" })}>
          {text.login.provider(data.oidc_name ?? "")}
        </a>
      </p>
      {isAside && <p class="small quiet">{text.login.elsewhere}</p>}
      {location.pathname === JOIN && <p class="small quiet">{text.login.invited}</p>}
      {!data.methods.includes("key") && <p class="small quiet">{text.login.operators}</p>}
    </>
  );
}
