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

type Schedule = Schemas["Schedule"];

const words = text.interests.agent;

const EVERY = (["off", "daily", "weekly"] as const).map((every) => [every, words.everyNames[every]] as const);
const WEEKDAYS = words.weekdays.map((name, index) => [String(index + 1), name] as const);

/** "08:30" of a schedule, and back. */
const timeOf = ({ hour, minute }: Schedule) => `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;

function partsOf(time: string): Pick<Schedule, "hour" | "minute"> {
  const [hour, minute] = time.split(":").map(Number);
  return { hour: hour ?? 0, minute: minute ?? 0 };
}

interface FieldsProps {
  schedule: Schedule;
  onChange: (change: Partial<Schedule>) => void;
  fault: (field: string) => string | undefined;
}

function Fields({ schedule, onChange, fault }: FieldsProps) {
  return (
    <>
      <SelectField label={words.every} value={schedule.every} values={EVERY} onChange={(every) => every && onChange({ every })} />
      {schedule.every === "weekly" && (
        <SelectField
          label={words.weekday}
          value={String(schedule.weekday)}
          values={WEEKDAYS}
          onChange={(weekday) => onChange({ weekday: Number(weekday) })}
        />
      )}
      {schedule.every !== "off" && (
        <>
          <TextField label={words.time} type="time" value={timeOf(schedule)} onInput={(time) => onChange(partsOf(time))} required />
          <TextField
            label={words.zone}
            hint={words.zoneHint}
            value={schedule.time_zone}
            onInput={(time_zone) => onChange({ time_zone })}
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
  const edit = useEdit(interest.schedule, (values) => values);
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
          {(fault) => <Fields schedule={edit.values} onChange={edit.set} fault={fault} />}
        </Form>
      </May>
      <Pause interest={interest} onDone={reload} />
    </section>
  );
}
