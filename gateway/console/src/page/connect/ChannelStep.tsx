import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";

import { endpoints } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Step } from "./Step";
import { connectText } from "./text";

const words = connectText.channel;

/** Who hears what the agents do: endpoints of messages, which the settings keep. */
export function ChannelStep() {
  return (
    <Answer query={useQuery(endpoints)}>
      {({ items }) => {
        const active = items.filter(({ status }) => status === "active").length;
        return (
          <Step number={6} title={words.title} tone={active > 0 ? "done" : "off"} state={active > 0 ? words.there(active) : words.none}>
            <p>
              <Link href="/settings">{words.settings}</Link>
            </p>
          </Step>
        );
      }}
    </Answer>
  );
}
