import { useQuery, useQueryClient } from "@tanstack/preact-query";

import { answer, api, defined, type Schemas } from "../../api/client";
import { count, counted } from "../../api/format";
import type { TaskFilter } from "../../api/queries";
import { Answer } from "../../part/Answer";
import { Confirm } from "../../part/form/Confirm";
import { useNotice } from "../../part/Notice";
import { operatorText } from "./text";

type Task = Schemas["OperatorTask"];

/** What is to be repeated or dropped: one row, or all that a filter finds. */
export type Choice = { isDrop: boolean } & ({ task: Task } | { filter: TaskFilter });

function bodyOf(choice: Choice, isDryRun: boolean) {
  const common = { drop: choice.isDrop, dry_run: isDryRun };
  if ("task" in choice) return { ...common, type: choice.task.type, service: choice.task.service, ids: [choice.task.task_id] };
  return { ...common, ...defined(choice.filter), status: "failed" as const };
}

const typeOf = (choice: Choice) => ("task" in choice ? choice.task.type : choice.filter.type);

const send = (choice: Choice, isDryRun: boolean) => answer(api.POST("/api/v1.0/tasks/retry", { body: bodyOf(choice, isDryRun) }));

/** Asks, with the number that it will act on, which the server has counted. */
export function Change({ choice, onClose }: { choice: Choice; onClose: () => void }) {
  const client = useQueryClient();
  const notice = useNotice();
  const words = choice.isDrop ? operatorText.dropping : operatorText.retrying;
  const matching = useQuery({ queryKey: ["operator", "matching", choice], queryFn: () => send(choice, true), staleTime: 0, gcTime: 0 });
  const matched = matching.data?.matched ?? 0;
  const onDone = async ({ changed }: Schemas["TaskChange"]) => {
    notice({ text: words.done(counted(changed, typeOf(choice))) });
    await client.invalidateQueries({ queryKey: ["operator"] });
  };
  return (
    <Confirm
      title={words.title}
      action={words.action(count(matched))}
      isReady={matched > 0}
      send={() => send(choice, false)}
      onDone={onDone}
      onClose={onClose}
    >
      <Answer query={matching}>{() => <p>{words.text(counted(matched, typeOf(choice)))}</p>}</Answer>
    </Confirm>
  );
}
