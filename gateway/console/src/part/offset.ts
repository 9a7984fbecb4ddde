import { useSearchParams } from "wouter-preact";

/** The first row of a list, kept in the address under `name`, beside what else it says. */
export function useOffset(name: string): [number, (offset: number) => void] {
  const [address, setAddress] = useSearchParams();
  const move = (offset: number) =>
    setAddress((before) => {
      const next = new URLSearchParams(before);
      next.set(name, String(offset));
      return next;
    });
  return [Number(address.get(name) ?? 0) || 0, move];
}
