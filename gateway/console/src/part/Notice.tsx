import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";

import { text } from "../text";
import { Button } from "./form/Button";

const SHOWN_MS = 8000;

interface Notice {
  text: string;
  page?: string; // of what was made
  onUndo?: () => void;
}

const Say = createContext<(notice: Notice) => void>(() => undefined);

/** Tell what was done, for eight seconds, with a way to take it back. */
export function useNotice(): (notice: Notice) => void {
  return useContext(Say);
}

function Shown({ notice, onEnd }: { notice: Notice; onEnd: () => void }) {
  useEffect(() => {
    const timer = setTimeout(onEnd, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice, onEnd]);
  const undo = () => {
    notice.onUndo?.();
    onEnd();
  };
  return (
    <div class="notice">
      {notice.text}
      {notice.page && (
        <Link href={notice.page} onClick={onEnd}>
          {text.open}
        </Link>
      )}
      {notice.onUndo && (
        <Button kind="quiet" onClick={undo}>
          {text.undo}
        </Button>
      )}
    </div>
  );
}

export function Notices({ children }: { children: ComponentChildren }) {
  const [notice, setNotice] = useState<Notice | null>(null);
  const end = useCallback(() => setNotice(null), []);
  return (
    <Say.Provider value={setNotice}>
      {children}
      <div class="notices" aria-live="polite">
        {notice && <Shown notice={notice} onEnd={end} />}
      </div>
    </Say.Provider>
  );
}
