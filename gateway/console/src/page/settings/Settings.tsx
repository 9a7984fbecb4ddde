import { Page } from "../../part/Page";
import { useScope } from "../../part/scope";
import { text } from "../../text";
import { Endpoints } from "../endpoints/Endpoints";
import { DeleteAccount } from "./DeleteAccount";
import { Keys } from "./Keys";
import { Sessions } from "./Sessions";

export default function Settings() {
  const hasEndpoints = useScope("webhooks:read");
  return (
    <Page title={text.settings.title} wide>
      <Keys />
      <Sessions />
      {hasEndpoints && <Endpoints />}
      <DeleteAccount />
    </Page>
  );
}
