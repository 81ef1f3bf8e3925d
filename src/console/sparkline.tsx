import type { Tool } from '../http/tool-shapes.ts';

const [WIDTH, HEIGHT, SLOTS] = [120, 24, 20];

/** The newest outcomes from left to right; in a list they end together, beside a label they begin there. A bar is as high as its share of failures; a line on the ground is none. */
export function Sparkline({
  lately,
  fromLeft = false,
}: {
  readonly lately: Tool['lately'];
  readonly fromLeft?: boolean;
}) {
  const outcomes = lately.reduce((sum, bucket) => sum + bucket.outcomes, 0);
  const failures = lately.reduce((sum, bucket) => sum + bucket.failures, 0);
  const step = WIDTH / SLOTS;
  const offset = fromLeft ? 0 : SLOTS - lately.length;
  return (
    <svg
      class="sparkline"
      role="img"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-label={outcomes === 0 ? 'no outcomes yet' : `${failures} of the last ${outcomes} outcomes failed`}
    >
      {lately.map((bucket, index) => {
        const share = bucket.failures / bucket.outcomes;
        const height = share === 0 ? 2 : 4 + share * (HEIGHT - 4);
        const x = (offset + index) * step + 0.5;
        return (
          <rect
            key={index}
            class={share === 0 ? 'fine' : 'failed'}
            x={x}
            y={HEIGHT - height}
            width={step - 1.5}
            height={height}
          />
        );
      })}
    </svg>
  );
}
