import { TextField } from "../../part/form/Field";
import { SelectField } from "../../part/form/Select";
import type { DigestChoice, DigestDays } from "./digest";
import { endpointsText } from "./text";

const WORDS = endpointsText;
const CHOICES = ["none", "weekdays", "daily"] as const;

interface Props {
  choice: DigestChoice;
  onChange: (change: Partial<DigestChoice>) => void;
  fault: (field: string) => string | undefined;
}

/** When an endpoint gets the digest. */
export function DigestFields({ choice, onChange, fault }: Props) {
  const chosen = choice["digest.weekdays"];
  const days: readonly DigestDays[] = chosen === "custom" ? [...CHOICES, "custom"] : CHOICES;
  return (
    <>
      <SelectField
        label={WORDS.digest}
        value={chosen}
        values={days.map((each) => [each, WORDS.digestDays[each]] as const)}
        onChange={(next) => next && onChange({ "digest.weekdays": next })}
        fault={fault("digest.weekdays")}
      />
      {chosen !== "none" && (
        <>
          <TextField
            label={WORDS.digestTime}
            type="time"
            value={choice["digest.hour"]}
            onInput={(time) => onChange({ "digest.hour": time })}
            required
            fault={fault("digest.hour")}
          />
          <TextField
            label={WORDS.digestZone}
            hint={WORDS.digestZoneHint}
            value={choice["digest.time_zone"]}
            onInput={(zone) => onChange({ "digest.time_zone": zone })}
            required
            fault={fault("digest.time_zone")}
          />
        </>
      )}
    </>
  );
}
