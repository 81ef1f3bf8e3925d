import { heldBy } from '../domain/gate/decision.ts';
import type { Ask, Decision } from '../domain/gate/decision.ts';
import { answers, coverage } from '../domain/approval/grant.ts';
import type { Grant, HeldCall } from '../domain/approval/grant.ts';

/** Whether what was granted beforehand is looked at: not for a tool that is blocked, or tried under a lease. */
export function isForGrants({ via, escalation }: Ask): boolean {
  return via === 'person' && escalation?.state !== 'BLOCKED';
}

/** What people have granted, by tool. Looked at only where the answer would be to ask somebody. */
export class Grants {
  readonly #byTool = new Map<string, Grant[]>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Takes all there are. */
  take(grants: readonly Grant[]): void {
    const byTool = new Map<string, Grant[]>();
    for (const grant of grants) byTool.set(grant.toolKey, [...(byTool.get(grant.toolKey) ?? []), grant]);
    for (const toolKey of this.#byTool.keys()) if (!byTool.has(toolKey)) this.takeOf(toolKey, []);
    for (const [toolKey, ofTool] of byTool) this.takeOf(toolKey, ofTool);
  }

  /** Takes all there are of one tool. */
  takeOf(toolKey: string, grants: readonly Grant[]): void {
    const known = this.#byTool.get(toolKey) ?? [];
    const ids = new Set(known.map(({ id }) => id));
    // Whoever remembers an answer may go on doing so.
    if (grants.length === known.length && grants.every(({ id }) => ids.has(id))) return;
    if (grants.length === 0) this.#byTool.delete(toolKey);
    else this.#byTool.set(toolKey, [...grants]);
    this.#onChange();
  }

  /** By whose leave a call runs that a grant lets through. */
  named(toolKey: string, id: string): Pick<Grant, 'id' | 'kind' | 'by'> | undefined {
    return this.#byTool.get(toolKey)?.find((grant) => grant.id === id);
  }

  /** A grant that somebody else has used up: nobody has to look at it again. */
  spend(toolKey: string, id: string): void {
    const left = this.#byTool.get(toolKey)?.filter((grant) => grant.id !== id) ?? [];
    this.#byTool.set(toolKey, left);
  }

  /** What a person has said beforehand about a call that would be held. */
  answer(
    decision: Decision,
    toolKey: string,
    tool: string,
    { isFresh, ...call }: Omit<HeldCall, 'held'> & { readonly isFresh: boolean },
  ): Decision {
    if (decision.decision !== 'ask' || !isForGrants(decision)) return decision;
    const held = { ...call, held: heldBy(decision) };
    const found = this.#byTool.get(toolKey)?.filter((grant) => answers(grant, held)) ?? [];
    const standing = found.find(({ kind }) => kind !== 'once');
    // A gate that has lost touch cannot know whether it was revoked: the ledger is asked.
    if (standing !== undefined && !isFresh) return { ...decision, via: 'grant', grant: standing.id };
    if (standing !== undefined) {
      const because = `granted by ${standing.by ?? 'somebody'}: ${coverage(standing, tool, standing.scope)}`;
      const { trustVersion } = decision;
      return {
        decision: 'allow',
        because,
        grant: standing.id,
        ...(trustVersion === undefined ? {} : { trustVersion }),
      };
    }
    const once = found.find(({ kind }) => kind === 'once');
    return once === undefined ? decision : { ...decision, via: 'grant', grant: once.id };
  }
}
