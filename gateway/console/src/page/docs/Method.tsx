/** The method of a request, in a column of its own width. */
export function Method({ name }: { name: string }) {
  return <code class="method">{name}</code>;
}
