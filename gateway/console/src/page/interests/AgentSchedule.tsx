import { useMutation, useQueryClient } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { faultOf, Problem } from "../../api/problem";
import { Button } from "../../part/Button";
import { Fault } from "../../part/Fault";
import { Field, TextField } from "../../part/Field";
import { State } from "../../part/State";
import { text } from "../../text";

type Schedule = Schemas["Schedule"];

const EVERY: readonly Schedule["every"][] = ["off", "daily", "weekly"];

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  onChoice: (value: string) => void;
}

function Choice({ label, value, options, onChoice }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** "08:30" of a schedule, and back. */
const timeOf = ({ hour, minute }: Schedule) => `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;

function withTime(schedule: Schedule, time: string): Schedule {
  const [hour, minute] = time.split(":").map(Number);
  return { ...schedule, hour: hour ?? 0, minute: minute ?? 0 };
}

function everyOf(value: string): Schedule["every"] {
  return EVERY.find((every) => every === value) ?? "off";
}

/** When the agent of an interest starts, and its pause. */
export function AgentSchedule({ interest }: { interest: Schemas["Interest"] }) {
  const [schedule, setSchedule] = useState(interest.schedule);
  const set = (change: Partial<Schedule>) => setSchedule({ ...schedule, ...change });
  const client = useQueryClient();
  const params = { path: { interest_id: interest.id } };
  const onSuccess = () => client.invalidateQueries({ queryKey: ["interests"] });
  const saving = useMutation({
    mutationFn: () => answer(api.PUT("/api/v1.0/interests/{interest_id}", { params, body: { schedule } })),
    onSuccess,
  });
  const pausing = useMutation({
    mutationFn: () =>
      interest.agent_paused
        ? answer(api.POST("/api/v1.0/interests/{interest_id}/resume-agent", { params }))
        : answer(api.POST("/api/v1.0/interests/{interest_id}/pause-agent", { params })),
    onSuccess,
  });
  const problem = saving.error instanceof Problem ? saving.error : null;
  const fault = problem && problem.fields.length > 0 ? pausing.error : (saving.error ?? pausing.error);
  const words = text.interests.agent;
  const submit = (event: Event) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <section class="group">
      <h2>{words.title}</h2>
      {interest.agent_paused && <State tone="off">{words.paused}</State>}
      {fault && <Fault error={fault} />}
      <form class="form" onSubmit={submit}>
        <Choice
          label={words.every}
          value={schedule.every}
          options={EVERY.map((every) => [every, words.everyNames[every]])}
          onChoice={(every) => set({ every: everyOf(every) })}
        />
        {schedule.every === "weekly" && (
          <Choice
            label={words.weekday}
            value={String(schedule.weekday)}
            options={words.weekdays.map((name, index) => [String(index + 1), name])}
            onChoice={(weekday) => set({ weekday: Number(weekday) })}
          />
        )}
        {schedule.every !== "off" && (
          <>
            <TextField
              label={words.time}
              type="time"
              value={timeOf(schedule)}
              onInput={(time) => setSchedule(withTime(schedule, time))}
              required
            />
            <TextField
              label={words.zone}
              hint={words.zoneHint}
              value={schedule.time_zone}
              onInput={(time_zone) => set({ time_zone })}
              required
              fault={faultOf(problem, "schedule.time_zone")}
            />
          </>
        )}
        <div class="actions">
          <Button kind="main" type="submit" disabled={saving.isPending}>
            {text.save}
          </Button>
          <Button disabled={pausing.isPending} onClick={() => pausing.mutate()}>
            {interest.agent_paused ? words.resume : words.pause}
          </Button>
        </div>
      </form>
    </section>
  );
}
