import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

function closeUnlessIn(menu: HTMLDetailsElement | null, target: EventTarget | null): void {
  if (menu && target instanceof Node && !menu.contains(target)) menu.open = false;
}

/** A button that shows what is behind it, until it is pressed again, Escape is, or the focus or a press goes elsewhere. */
export function Menu({ name, children }: { name: string; children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const onPress = (event: PointerEvent) => closeUnlessIn(menu.current, event.target);
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !menu.current?.open) return;
    menu.current.open = false;
    menu.current.querySelector("summary")?.focus();
  };
  return (
    <details ref={menu} class="menu" onKeyDown={onKeyDown} onFocusOut={(event) => closeUnlessIn(menu.current, event.relatedTarget)}>
      <summary class="button">{name}</summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}
