import { relevance, score } from "../api/format";

const BARS = [0, 1, 2, 3];

/** How probable it is that a paper fits the interest: word, number and bars. */
export function Score({ value }: { value: number }) {
  const { word, bars } = relevance(value);
  return (
    <span class="score">
      <span class="score-bars" aria-hidden="true">
        {BARS.map((bar) => (
          <i key={bar} class={bar < bars ? "on" : ""} />
        ))}
      </span>
      <span>
        {word} <span class="figure quiet">{score(value)}</span>
      </span>
    </span>
  );
}
