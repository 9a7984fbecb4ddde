/** Questions about an agent or a run. The service remembers nothing: the conversation is kept here, and sent with each question. */
import { useMutation } from "@tanstack/preact-query";
import { useState } from "preact/hooks";

import { answer, api, type Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { TextField } from "../../part/form/Field";
import { agentsText } from "./text";

const words = agentsText.questions;

interface Message {
  role: "user" | "assistant";
  content: string;
}

interface Props {
  title: string;
  repo: string;
  run?: Schemas["Run"]["run_id"]; // that the questions are about
}

export function Questions({ title, repo, run }: Props) {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [question, setQuestion] = useState("");
  const asking = useMutation({
    mutationFn: (asked: readonly Message[]) =>
      answer(api.POST("/api/v1.0/fleet/agents/chat", { body: { repo, focus_run_id: run ?? null, messages: [...asked] } })),
    onSuccess: ({ reply }, asked) => {
      setMessages([...asked, { role: "assistant", content: reply }]);
      setQuestion("");
    },
  });
  const ask = (event: Event) => {
    event.preventDefault();
    asking.mutate([...messages, { role: "user", content: question.trim() }]);
  };
  return (
    <section class="group">
      <h2>{title}</h2>
      <div aria-live="polite">
        {messages.map(({ role, content }, index) => (
          <p key={index} class={role === "user" ? "quiet" : "prose"}>
            {content}
          </p>
        ))}
      </div>
      <form class="form" onSubmit={ask}>
        <TextField label={words.question} value={question} onInput={setQuestion} />
        {asking.error && <Fault error={asking.error} />}
        <div class="actions">
          <Button type="submit" disabled={asking.isPending || question.trim() === ""}>
            {words.ask}
          </Button>
        </div>
      </form>
    </section>
  );
}
