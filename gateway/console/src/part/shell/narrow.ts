import { useEffect, useState } from "preact/hooks";

const NARROW = matchMedia("(max-width: 860px)"); // as in style/shell.css

/** Whether the window has no room for the navigation beside the page. */
export function useNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const change = () => setIsNarrow(NARROW.matches);
    NARROW.addEventListener("change", change);
    return () => NARROW.removeEventListener("change", change);
  }, []);
  return isNarrow;
}
