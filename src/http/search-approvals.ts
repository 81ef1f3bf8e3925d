import type { ShownApproval } from '../postgres/read-approvals.ts';

type Read = (limit: number, after?: string) => Promise<readonly ShownApproval[]>;

const AT_ONCE = 200;
const MOST_LOOKED_AT = 2000;

/**
 * The questions that hold a text, and where to go on. Looked for in what is shown, and not by the database: that would find
 * a secret by its letters which nobody is shown. What is looked at is bounded, so a page may be short and yet not the last.
 */
export async function searchApprovals(read: Read, search: string, limit: number, after?: string) {
  const found: ShownApproval[] = [];
  let cursor = after;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += AT_ONCE) {
    const some = await read(AT_ONCE, cursor);
    for (const one of some) {
      cursor = one.id;
      if (holds(one, search.toLowerCase())) found.push(one);
      if (found.length === limit) return { found, cursor };
    }
    if (some.length < AT_ONCE) return { found, cursor: null };
  }
  return { found, cursor: cursor ?? null };
}

function holds({ server, tool, agent, scope, arguments: args }: ShownApproval, search: string): boolean {
  return [`${server}/${tool}`, agent ?? '', scope ?? '', JSON.stringify(args)].some((text) =>
    text.toLowerCase().includes(search),
  );
}
