import { Page } from "../../part/Page";
import { text } from "../../text";
import { DeleteAccount } from "./DeleteAccount";
import { Keys } from "./Keys";
import { Sessions } from "./Sessions";

export default function Settings() {
  return (
    <Page title={text.settings.title} wide>
      <Keys />
      <Sessions />
      <DeleteAccount />
    </Page>
  );
}
