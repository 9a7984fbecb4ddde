import type { ComponentChildren } from "preact";

interface Props {
  onClick?: () => void;
  children: ComponentChildren;
  kind?: "main" | "plain" | "quiet" | "danger";
  type?: "button" | "submit";
  disabled?: boolean;
  pressed?: boolean;
  expanded?: boolean;
  label?: string;
}

/** A filled button (`main`) is there once a view. */
export function Button({ onClick, children, kind = "plain", type = "button", disabled = false, pressed, expanded, label }: Props) {
  return (
    <button
      class={`button button-${kind}`}
      type={type}
      disabled={disabled}
      onClick={onClick}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-label={label}
    >
      {children}
    </button>
  );
}
