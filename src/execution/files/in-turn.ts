/** What is under way on a path, by the path: the end of the last of a row. */
const rows = new Map<string, Promise<unknown>>();

/**
 * One after the other for the same path, within this process: of two that read a file and write it back, the second has to see what the
 * first has written. Between processes a change since it was read is noticed instead.
 */
export async function inTurn<T>(path: string, run: () => Promise<T>): Promise<T> {
  const before = rows.get(path) ?? Promise.resolve();
  const mine = before.then(run, run);
  rows.set(path, mine);
  try {
    return await mine;
  } finally {
    if (rows.get(path) === mine) rows.delete(path);
  }
}
