import type { ComponentChildren } from "preact";

/** Nothing is there yet: what the next step is. */
export function Empty({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}
