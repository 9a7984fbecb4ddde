/** What an agent that implements the experiment starts from. */
import { useQuery } from "@tanstack/preact-query";

import { Answer } from "../../part/Answer";
import { Fact, Facts } from "../../part/Facts";
import { Outside } from "../../part/link/Outside";
import { Unknown } from "../../part/Time";
import { reference } from "./queries";
import { experimentsText } from "./text";

const words = experimentsText.reference;

export function Reference({ id }: { id: string }) {
  return (
    <details>
      <summary>{words.title}</summary>
      <Answer query={useQuery(reference(id))}>
        {({ code_repository: code, container_image: image, key_methods: methods, implementation_plan: plan }) => (
          <Facts>
            <Fact name={words.code}>
              <Outside address={code} />
            </Fact>
            <Fact name={words.image}>{image ? <code>{image}</code> : <Unknown />}</Fact>
            {methods.map(({ name = "", description }) => (
              <Fact key={name} name={name}>
                {description}
              </Fact>
            ))}
            <Fact name={words.plan}>{plan ?? <Unknown />}</Fact>
          </Facts>
        )}
      </Answer>
    </details>
  );
}
