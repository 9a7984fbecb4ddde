/** The guide: one section, and the list of all. */
import { pictures, sections } from "console:guide";
import { useEffect } from "preact/hooks";
import { Link } from "wouter-preact";

import { Nodes } from "../../part/Nodes";
import { Page } from "../../part/Page";
import { guideText } from "./text";

type Section = (typeof sections)[number];

const addressOf = (name: string) => (name === "" ? "~/docs/guide" : `~/docs/guide/${name}`);

function Contents({ current }: { current: Section }) {
  return (
    <nav class="guide-contents" aria-label={guideText.contents}>
      <ul>
        {sections.map(({ name, title }) => (
          <li key={name}>
            <Link href={addressOf(name)} aria-current={name === current.name ? "page" : undefined}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Show the heading that the address names. */
function useAnchor(section: Section): void {
  useEffect(() => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
  }, [section]);
}

/** `name` of a section that is not there, such as that of a page without one, is the first. */
export default function Guide({ name }: { name: string }) {
  const section = sections.find((each) => each.name === name) ?? sections[0];
  if (!section) throw new Error("there is no guide");
  useAnchor(section);
  return (
    <div class="guide">
      <Page title={section.title} key={section.name}>
        <div class="guide-text">
          <Nodes nodes={section.nodes} pictures={pictures} />
        </div>
      </Page>
      <Contents current={section} />
    </div>
  );
}
