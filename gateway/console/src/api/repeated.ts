/** A query with a parameter that is given once for each of `values`, which the types of the description do not know. */
export function withEach(name: string, values: readonly string[], query: object): string {
  const once = Object.entries(query).map(([each, value]) => [each, String(value)]);
  return new URLSearchParams([...once, ...values.map((value) => [name, value])]).toString();
}
