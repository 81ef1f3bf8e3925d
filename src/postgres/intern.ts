import type pg from 'pg';
import { bounded } from '../domain/key/bounded.ts';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { storable } from '../domain/outcome/field.ts';

const MOST_REMEMBERED = 100_000;
/** Names are indexed, and an index has no room for kilobytes. */
export const MOST_NAME_BYTES = 1000;

/**
 * Numbers for the names that recur in every row. They never change while a connection lasts, so a process asks for each
 * once; a new connection may lead to a database that was restored meanwhile.
 */
export class Names {
  readonly #pool: pg.Pool;
  #known = new Map<string, number>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on('connect', () => this.forget());
  }

  /** Something else once what was known is forgotten: numbers from before may mean other names now. */
  get learnt(): object {
    return this.#known;
  }

  forget(): void {
    // Another map, so that whoever has looked something up can still use it.
    this.#known = new Map();
  }

  async of(texts: readonly (string | undefined)[]): Promise<(text: string | undefined) => number | null> {
    if (this.#known.size > MOST_REMEMBERED) this.forget();
    const known = this.#known;
    const unknown = new Set<string>();
    for (const text of texts) if (text !== undefined && !known.has(text)) unknown.add(text);
    if (unknown.size > 0) await this.#learn([...unknown], known);
    return (text) => (text === undefined ? null : (known.get(text) ?? null));
  }

  async #learn(unknown: readonly string[], known: Map<string, number>): Promise<void> {
    const stored = new Map(unknown.map((text) => [text, bounded(storable(text), MOST_NAME_BYTES)]));
    // The second half finds names that others inserted meanwhile; the first never waits for them for long.
    const found = await this.#pool.query<{ id: number; text: string }>(
      `with added as (insert into name (text) select unnest($1::text[]) on conflict (text) do nothing returning id, text)
       select id, text from added union all select id, text from name where text = any($1)`,
      [[...new Set(stored.values())].sort()],
    );
    const ids = new Map(found.rows.map(({ id, text }) => [text, id]));
    for (const [text, name] of stored) {
      const id = ids.get(name);
      if (id !== undefined) known.set(text, id);
    }
    const missed = unknown.filter((text) => !known.has(text));
    if (missed.length > 0) await this.#learn(missed, known);
  }
}

export interface ToolName {
  readonly server: string;
  readonly name: string;
}

/** The heads of a tool: its own, and its server's where it has one. */
export interface ToolHeads {
  readonly key: string;
  readonly id: number;
  readonly serverKey: string | null;
  readonly serverId: number | null;
}

/** Head rows by tool. Created at the first report of a tool, together with its server's. */
export class Subjects {
  readonly #pool: pg.Pool;
  /** By server and name: making a key costs more than all else that is done with it. */
  #known = new Map<string, Map<string, ToolHeads>>();
  #size = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    pool.on('connect', () => this.forget());
  }

  forget(): void {
    this.#known = new Map();
    this.#size = 0;
  }

  /** Makes sure of the head of every tool, or of the server alone where no tool is named. */
  async of(tools: readonly ToolName[]): Promise<(tool: ToolName) => ToolHeads> {
    if (this.#size > MOST_REMEMBERED) this.forget();
    const known = this.#known;
    const unknown = tools.filter(({ server, name }) => known.get(server)?.has(name) !== true);
    if (unknown.length > 0) await this.#learn(eachOnce(unknown), known);
    return ({ server, name }) => {
      const heads = known.get(server)?.get(name);
      if (heads === undefined) throw new Error(`no head row for ${server}/${name}`);
      return heads;
    };
  }

  async #learn(tools: readonly ToolName[], known: Map<string, Map<string, ToolHeads>>): Promise<void> {
    const heads = new Map(tools.flatMap(headsOf).map((head) => [head.key, head]));
    const sorted = [...heads.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const keys = sorted.map(({ key }) => key);
    await this.#pool.query(
      `insert into subject (key, kind, server, name)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) on conflict (key) do nothing`,
      [keys, sorted.map((h) => h.kind), sorted.map((h) => shown(h.server)), sorted.map((h) => shown(h.name))],
    );
    const found = await this.#pool.query<{ id: number; key: string }>(
      'select id, key from subject where key = any($1)',
      [keys],
    );
    const ids = new Map(found.rows.map(({ id, key }) => [key, id]));
    for (const tool of tools) {
      const heads = toolHeads(tool, ids);
      if (heads === undefined) continue;
      known.set(tool.server, (known.get(tool.server) ?? new Map<string, ToolHeads>()).set(tool.name, heads));
      this.#size += 1;
    }
  }
}

/** A flush has thousands of outcomes, and of few tools. */
function eachOnce(tools: readonly ToolName[]): readonly ToolName[] {
  return [...new Map(tools.map((tool) => [`${tool.server}\0${tool.name}`, tool])).values()];
}

function toolHeads(tool: ToolName, ids: ReadonlyMap<string, number>): ToolHeads | undefined {
  const [own, server] = headsOf(tool);
  const id = own === undefined ? undefined : ids.get(own.key);
  if (own === undefined || id === undefined) return undefined;
  const serverId = server === undefined ? undefined : ids.get(server.key);
  return { key: own.key, id, serverKey: server?.key ?? null, serverId: serverId ?? null };
}

interface Head extends ToolName {
  readonly key: string;
  readonly kind: 'tool' | 'server';
}

/** For people. Identity is the key; a name may be kilobytes long or hold what it should not. */
function shown(name: string): string {
  return storable(redactText(name, 200));
}

/** A tool and its server, or the server alone where no tool is named. */
function headsOf({ server, name }: ToolName): readonly Head[] {
  const ofServer: Head = { key: serverKey(server), kind: 'server', server, name: '' };
  if (name === '') return [ofServer];
  const ofTool: Head = { key: toolKey(server, name), kind: 'tool', server, name };
  return server === LOCAL ? [ofTool] : [ofTool, ofServer];
}
