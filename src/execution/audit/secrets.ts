/** Loaded when there is something to look at: a short command should not wait for what it has no use of. */
let detectors: ReturnType<typeof loadDetectors> | undefined;

async function loadDetectors() {
  const [{ lintSource }, { creator }, { secretLintProfiler }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
    import('@secretlint/profiler'),
  ]);
  // It keeps marks of every look for ever, and goes through all of them at each: the thousandth would cost fifty times the first.
  secretLintProfiler.mark = () => undefined;
  const rules = [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }];
  const options = { config: { rules }, noPhysicFilePath: true };
  return (content: string) =>
    lintSource({ source: { content, filePath: 'audit.txt', ext: '.txt', contentType: 'text' }, options });
}

/** Every detector wants a long run of letters and digits, a password in a URL, or the head of a key. */
const WORTH_A_LOOK = /[A-Za-z0-9_+=-]{16}|:\/\/\S*@|PRIVATE KEY|password|secret/i;

/** A piece that is shorter gives nothing away and is found everywhere. */
export const SHORTEST_PIECE = 4;

/** The credentials in these texts that secretlint's detectors know. */
export async function findSecrets(texts: readonly string[]): Promise<readonly string[]> {
  const together = texts.join('\n\n');
  const found = new Set<string>();
  if (WORTH_A_LOOK.test(together)) {
    const look = await (detectors ??= loadDetectors());
    const { messages } = await look(together);
    for (const { range } of messages) found.add(together.slice(...range));
  }
  return [...found].filter(({ length }) => length >= SHORTEST_PIECE).sort((a, b) => b.length - a.length);
}
