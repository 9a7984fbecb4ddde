import { useQuery } from "@tanstack/preact-query";

import type { Schemas } from "../../api/client";
import { session } from "../../api/session";
import { settingsText } from "./text";

type Scope = Schemas["Scope"];

interface Props {
  scopes: Schemas["ApiKeyList"]["scopes"];
  chosen: readonly Scope[];
  onChange: (chosen: Scope[]) => void;
  fault: string | undefined;
}

/** What a key may do, one by one. Nobody can grant what they may not do themselves. */
export function ScopeFields({ scopes, chosen, onChange, fault }: Props) {
  const own = useQuery(session).data?.scopes ?? [];
  const choose = (name: Scope, isChosen: boolean) => onChange([...chosen.filter((each) => each !== name), ...(isChosen ? [name] : [])]);
  const shown = scopes.filter(({ name }) => own.includes(name) || chosen.includes(name));
  return (
    <fieldset class="scopes">
      <legend>{settingsText.scopes}</legend>
      {shown.map(({ name, description }) => (
        <label key={name} class="check">
          <input type="checkbox" checked={chosen.includes(name)} onChange={(event) => choose(name, event.currentTarget.checked)} />
          <span>
            <code>{name}</code> <span class="small quiet">{description}</span>
          </span>
        </label>
      ))}
      {fault && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  );
}
