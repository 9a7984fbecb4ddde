import { useMutation, useQueryClient } from "@tanstack/preact-query";

import { answer, api, ifMatch, type Schemas, type Versioned } from "../../api/client";
import { Button } from "../../part/form/Button";
import { useEdit } from "../../part/form/edit";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { Form } from "../../part/form/Form";
import { May } from "../../part/scope";
import { SelectField } from "../../part/form/Select";
import { State } from "../../part/State";
import { text } from "../../text";
import { interestsText } from "./text";

type Schedule = Schemas["Schedule"];

const words = interestsText.agent;

const EVERY = (["off", "daily", "weekly"] as const).map((every) => [every, words.everyNames[every]] as const);
const WEEKDAYS = words.weekdays.map((name, index) => [String(index + 1), name] as const);

const NAMED = { "schedule.every": EVERY, "schedule.weekday": WEEKDAYS };

/** Each under its name in the API, as the fields have it. */
interface Values {
  "schedule.every": Schedule["every"];
  "schedule.weekday": string;
  "schedule.hour": string; // with the minute: 08:30
  "schedule.time_zone": string;
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

const initialOf = ({ every, weekday, hour, minute, time_zone }: Schedule): Values => ({
  "schedule.every": every,
  "schedule.weekday": String(weekday),
  "schedule.hour": `${twoDigits(hour)}:${twoDigits(minute)}`,
  "schedule.time_zone": time_zone,
});

function bodyOf(values: Values): Schedule {
  const [hour = 0, minute = 0] = values["schedule.hour"].split(":").map(Number);
  const weekday = Number(values["schedule.weekday"]);
  return { every: values["schedule.every"], weekday, hour, minute, time_zone: values["schedule.time_zone"] };
}

interface FieldsProps {
  values: Values;
  onChange: (change: Partial<Values>) => void;
  fault: (field: string) => string | undefined;
}

function Fields({ values, onChange, fault }: FieldsProps) {
  const every = values["schedule.every"];
  return (
    <>
      <SelectField
        label={words.every}
        value={every}
        values={EVERY}
        onChange={(chosen) => chosen && onChange({ "schedule.every": chosen })}
        fault={fault("schedule.every")}
      />
      {every === "weekly" && (
        <SelectField
          label={words.weekday}
          value={values["schedule.weekday"]}
          values={WEEKDAYS}
          onChange={(weekday) => weekday && onChange({ "schedule.weekday": weekday })}
          fault={fault("schedule.weekday")}
        />
      )}
      {every !== "off" && (
        <>
          <TextField
            label={words.time}
            type="time"
            value={values["schedule.hour"]}
            onInput={(time) => onChange({ "schedule.hour": time })}
            required
            fault={fault("schedule.hour")}
          />
          <TextField
            label={words.zone}
            hint={words.zoneHint}
            value={values["schedule.time_zone"]}
            onInput={(zone) => onChange({ "schedule.time_zone": zone })}
            required
            fault={fault("schedule.time_zone")}
          />
        </>
      )}
    </>
  );
}

function Pause({ interest, onDone }: { interest: Schemas["Interest"]; onDone: () => unknown }) {
  const params = { path: { interest_id: interest.id } };
  const pausing = useMutation({
    mutationFn: () =>
      interest.agent_paused
        ? answer(api.POST("/api/v1.0/interests/{interest_id}/resume-agent", { params }))
        : answer(api.POST("/api/v1.0/interests/{interest_id}/pause-agent", { params })),
    onSuccess: onDone,
  });
  return (
    <>
      {interest.agent_paused && <State tone="off">{words.paused}</State>}
      {pausing.error && <Fault error={pausing.error} />}
      <May scope="provisioning:write">
        <div class="actions">
          <Button disabled={pausing.isPending} onClick={() => pausing.mutate()}>
            {interest.agent_paused ? words.resume : words.pause}
          </Button>
        </div>
      </May>
    </>
  );
}

/** When the agent of an interest starts, and its pause. */
export function AgentSchedule({ interest }: { interest: Versioned<Schemas["Interest"]> }) {
  const edit = useEdit(initialOf(interest.schedule), bodyOf, NAMED);
  const client = useQueryClient();
  const params = { path: { interest_id: interest.id }, header: ifMatch(interest) };
  const send = () => answer(api.PUT("/api/v1.0/interests/{interest_id}", { params, body: { schedule: edit.difference() } }));
  const reload = () => client.invalidateQueries({ queryKey: ["interests"] });
  const onSaved = async () => {
    await reload();
    edit.clear();
  };
  return (
    <section class="group">
      <h2>{words.title}</h2>
      <May scope="interests:write">
        <Form submit={text.save} send={send} onDone={onSaved} isMain={false} edit={{ ...edit, reload }}>
          {(fault) => <Fields values={edit.values} onChange={edit.set} fault={fault} />}
        </Form>
      </May>
      <Pause interest={interest} onDone={reload} />
    </section>
  );
}
