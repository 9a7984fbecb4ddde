import type { ComponentChildren } from "preact";
import { useErrorBoundary, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";

import { text } from "../text";
import { Empty } from "./Empty";
import { Button } from "./form/Button";
import { Page } from "./Page";

/** In place of a page whose script does not come, or that fails. Others can be opened. */
export function Broken({ children }: { children: ComponentChildren }) {
  const [location] = useLocation();
  const [failed, setFailed] = useState<string | null>(null); // its address
  useErrorBoundary((error: unknown) => {
    console.error(error);
    setFailed(location);
  });
  if (failed !== location) return <>{children}</>;
  return (
    <Page title={text.broken.title}>
      <Empty action={<Button onClick={() => window.location.reload()}>{text.broken.reload}</Button>}>{text.broken.lead}</Empty>
    </Page>
  );
}
