import { useQuery } from "@tanstack/preact-query";

import { providerLink, waysToLogIn } from "../../api/login";
import { settingsText } from "./text";

/** Adds the log-in at the provider to the person of this session. */
export function AddLogin() {
  const { data } = useQuery(waysToLogIn);
  if (!data?.methods.includes("oidc")) return null;
  return (
    <section class="group">
      <h2>{settingsText.login}</h2>
      <p class="read">{settingsText.loginText}</p>
      <p>
        <a class="button" href={providerLink("/console/settings", { link: "true" })}>
          {settingsText.loginAdd(data.oidc_name ?? "")}
        </a>
      </p>
    </section>
  );
}
