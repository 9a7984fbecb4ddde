import { TextField } from "../../part/form/Field";
import { SelectField } from "../../part/form/Select";
import { text } from "../../text";
import type { DigestChoice, DigestDays } from "./digest";

const WORDS = text.endpoints;
const CHOICES = ["none", "weekdays", "daily"] as const;

interface Props {
  choice: DigestChoice;
  onChange: (choice: DigestChoice) => void;
  fault: (field: string) => string | undefined;
}

/** When an endpoint gets the digest. */
export function DigestFields({ choice, onChange, fault }: Props) {
  const set = (change: Partial<DigestChoice>) => onChange({ ...choice, ...change });
  const days: readonly DigestDays[] = choice.days === "custom" ? [...CHOICES, "custom"] : CHOICES;
  return (
    <>
      <SelectField
        label={WORDS.digest}
        value={choice.days}
        values={days.map((each) => [each, WORDS.digestDays[each]] as const)}
        onChange={(chosen) => chosen && set({ days: chosen })}
      />
      {choice.days !== "none" && (
        <>
          <TextField label={WORDS.digestTime} type="time" value={choice.time} onInput={(time) => set({ time })} required />
          <TextField
            label={WORDS.digestZone}
            hint={WORDS.digestZoneHint}
            value={choice.zone}
            onInput={(zone) => set({ zone })}
            required
            fault={fault("digest.time_zone")}
          />
        </>
      )}
    </>
  );
}
