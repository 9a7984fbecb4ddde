import { useSearchParams } from "wouter-preact";

/** What a list shows of its rows, by the address: a status and an offset, and whether the form for a new one is open. */
export function useListAddress<Status extends string>(view: string, statuses: readonly Status[]) {
  const [address, setAddress] = useSearchParams();
  const status = statuses.find((each) => each === address.get("status"));
  const filter = { view, ...(status ? { status } : {}) };
  return {
    status,
    offset: Number(address.get("offset") ?? 0) || 0,
    isNew: address.get("new") === "1",
    setStatus: (next: string) => setAddress({ view, ...(next ? { status: next } : {}) }),
    setOffset: (next: number) => setAddress({ ...filter, offset: String(next) }),
    openNew: () => setAddress({ ...filter, new: "1" }),
    closeNew: () => setAddress(filter),
  };
}
