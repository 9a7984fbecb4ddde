import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Dialog } from "../../part/Dialog";
import { May } from "../../part/scope";
import { InterestForm } from "../interests/InterestForm";
import { Step } from "./Step";
import { connectText } from "./text";

const words = connectText.interest;

interface Props {
  interests: readonly Schemas["Interest"][];
  hasAgent: boolean; // which any other interest can have, too
}

/** An interest that is made from a repository: its agent works there. */
export function RepositoryStep({ interests, hasAgent }: Props) {
  const [isNew, setIsNew] = useState(false);
  const isThere = interests.length > 0;
  const tone = isThere ? "done" : hasAgent ? "off" : "waits";
  return (
    <Step number={4} title={words.title} tone={tone} state={isThere ? words.there(interests.length) : words.none}>
      {isThere && (
        <ul>
          {interests.map((each) => (
            <li key={each.id}>
              <Link href={`/interests/${each.id}`}>{each.name}</Link>
            </li>
          ))}
        </ul>
      )}
      <May scope="interests:write">
        <div class="actions">
          <Button onClick={() => setIsNew(true)}>{words.add}</Button>
        </div>
      </May>
      {isNew && (
        <Dialog title={words.add} onClose={() => setIsNew(false)}>
          <InterestForm onDone={() => setIsNew(false)} />
        </Dialog>
      )}
    </Step>
  );
}
