import { State, type Tone } from "./State";

interface Step<Name extends string> {
  name: Name;
  status: "pending" | "running" | "completed" | "skipped" | "failed";
  message: string | null;
}

const TONES: Readonly<Record<Step<string>["status"], Tone>> = {
  pending: "off",
  running: "running",
  completed: "done",
  skipped: "off",
  failed: "failed",
};

interface Props<Name extends string> {
  steps: readonly Step<Name>[];
  names: Readonly<Record<Name, string>>;
}

/** What long work does one after the other, and how far it is. */
export function Steps<Name extends string>({ steps, names }: Props<Name>) {
  return (
    <ol>
      {steps.map(({ name, status, message }) => (
        <li key={name}>
          <State tone={TONES[status]}>{names[name]}</State> <span class="quiet wrap">{message}</span>
        </li>
      ))}
    </ol>
  );
}
