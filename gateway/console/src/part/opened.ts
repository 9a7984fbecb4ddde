import { useSearchParams } from "wouter-preact";

/** What a drawer shows, kept in the address under `name`; null: nothing. Going back closes it. */
export function useOpened(name: string): [string | null, (value: string | null) => void] {
  const [address, setAddress] = useSearchParams();
  const open = (value: string | null) =>
    setAddress(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: value === null },
    );
  return [address.get(name), open];
}
