interface Props {
  label: string;
  children: string;
}

/** A long text of a program; it scrolls by itself, by keyboard too. */
export function Output({ label, children }: Props) {
  return (
    <pre class="command output" role="region" aria-label={label} tabIndex={0}>
      {children}
    </pre>
  );
}
