import { useEffect, useRef } from "preact/hooks";
import { Link } from "wouter-preact";

import type { Schemas } from "../../api/client";
import { Button } from "../../part/form/Button";
import { Fault } from "../../part/Fault";
import { PaperMeta } from "../../part/PaperMeta";
import { May } from "../../part/scope";
import { Score } from "../../part/Score";
import { text } from "../../text";
import type { Signal } from "./rating";
import { todayText } from "./text";

export type Recommendation = Schemas["Recommendation"];

interface CardActions {
  onRate: (signal: Signal) => void;
  onUndo: () => void;
  onWhy: () => void;
  onPlan: () => void;
  onFocus: () => void;
}

const SIGNALS = ["like", "save", "dislike", "dismiss"] as const;

/** A paper that was rated: one line, and the way back. */
function Folded({ paper, signal, onUndo }: { paper: Recommendation; signal: Signal; onUndo: () => void }) {
  return (
    <p class="card-folded">
      <span class="quiet">{todayText.rated[signal]}</span> {paper.title}
      <May scope="recommendations:write">
        <Button kind="quiet" label={`${text.undo}: ${paper.title}`} onClick={onUndo}>
          {text.undo}
        </Button>
      </May>
    </p>
  );
}

function Open({ paper, actions }: { paper: Recommendation; actions: CardActions }) {
  return (
    <>
      <Score value={paper.relevance_score} />
      <h3 class="card-title">
        <Link href={`/papers/${encodeURIComponent(paper.resource_id)}`}>{paper.title}</Link>
      </h3>
      {paper.resource && <PaperMeta paper={paper.resource} />}
      <p class="read">{paper.reasoning}</p>
      <details>
        <summary>{todayText.abstract}</summary>
        <p class="read">{paper.abstract}</p>
      </details>
      <div class="actions">
        <May scope="recommendations:write">
          {SIGNALS.map((signal) => (
            <Button key={signal} onClick={() => actions.onRate(signal)}>
              {todayText.actions[signal]}
            </Button>
          ))}
        </May>
        <span class="actions-gap" />
        <Button kind="quiet" onClick={actions.onWhy}>
          {todayText.why}
        </Button>
        <May scope="experiments:write">
          <Button kind="quiet" onClick={actions.onPlan}>
            {todayText.plan}
          </Button>
        </May>
      </div>
    </>
  );
}

interface Props {
  paper: Recommendation;
  signal: Signal | undefined;
  fault: unknown; // why its rating was refused; undefined: it was not
  isCurrent: boolean; // the keys are for it
  actions: CardActions;
}

/** One recommendation. The one that the keys are for has the focus, itself or a control in it. A control that a person moves to makes its
 * card the current one; the focus that the card gets for being it does not, or two cards could take it from each other for ever. */
export function Card({ paper, signal, fault, isCurrent, actions }: Props) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isCurrent && !element.current?.contains(document.activeElement)) element.current?.focus();
  }, [isCurrent, signal]);
  const onFocusIn = (event: FocusEvent) => {
    if (event.target !== element.current) actions.onFocus();
  };
  return (
    <article ref={element} class={signal ? "card card-rated" : "card"} tabIndex={-1} aria-current={isCurrent} onFocusIn={onFocusIn}>
      {signal ? <Folded paper={paper} signal={signal} onUndo={actions.onUndo} /> : <Open paper={paper} actions={actions} />}
      {fault !== undefined && <Fault error={fault} />}
    </article>
  );
}
