/** Commands that are given objects by their ids. */
const COMMAND =
  /\bgit(?: -C \S{1,200}| --no-pager){0,3} (?:archive|bisect|blame|branch|cat-file|checkout|cherry-pick|describe|diff|diff-tree|log|ls-tree|merge|merge-base|rebase|reset|restore|rev-list|rev-parse|revert|show|switch|tag|worktree)(?: [\w./@{}^~:+-]{1,200}){0,12} (?:[0-9a-f]{40}\.{2,3})?$/;
/** As git's own answers have them. */
const ANSWER = /(?:^|[\s(])(?:commit|tree|parent|blob|object|HEAD is now at|HEAD detached at) $/;

/** Whether a run of forty hex digits is what git calls a commit, not a key: by what stands directly around it. */
export function isGitObject(text: string, at: number, run: string): boolean {
  if (!/^[0-9a-f]{40}$/.test(run)) return false;
  const before = text.slice(Math.max(0, at - 500), at);
  return COMMAND.test(before) || ANSWER.test(before) || /^\s(?:refs\/|HEAD\b)/.test(text.slice(at + 40, at + 46));
}

/** Whether a run is a checksum that is called one: `sha256:…` of an image, or a line of `sha256sum`. */
export function isChecksum(text: string, at: number, run: string): boolean {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/.test(run)) return false;
  return (
    /\bsha(?:1|2|224|256|384|512)[:-]$/i.test(text.slice(Math.max(0, at - 8), at)) ||
    /^ [ *]\S/.test(text.slice(at + run.length, at + run.length + 3))
  );
}
