import { useQuery } from "@tanstack/preact-query";

import { providerLink, waysToLogIn } from "../../api/login";
import { text } from "../../text";

/** Adds the log-in at the provider to the person of this session. */
export function AddLogin() {
  const { data } = useQuery(waysToLogIn);
  if (!data?.methods.includes("oidc")) return null;
  return (
    <section class="group">
      <h2>{text.settings.login}</h2>
      <p class="read">{text.settings.loginText}</p>
      <p>
        <a class="button" href={providerLink("/console/settings", { link: "true" })}>
          {text.settings.loginAdd(data.oidc_name ?? "")}
        </a>
      </p>
    </section>
  );
}
