import type pg from 'pg';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { storable } from '../domain/outcome/field.ts';

const MOST_REMEMBERED = 100_000;

/** Numbers for the names that recur in every row. They never change, so a process asks for each once. */
export class Names {
  readonly #pool: pg.Pool;
  readonly #known = new Map<string, number>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async of(texts: readonly (string | undefined)[]): Promise<(text: string | undefined) => number | null> {
    await this.#learn([...new Set(texts)].filter((text) => text !== undefined));
    return (text) => (text === undefined ? null : (this.#known.get(text) ?? null));
  }

  async #learn(texts: readonly string[]): Promise<void> {
    const unknown = texts.filter((text) => !this.#known.has(text)).sort();
    if (unknown.length === 0) return;
    if (this.#known.size + unknown.length > MOST_REMEMBERED) this.#known.clear();
    // The second half finds names that others inserted meanwhile; the first never waits for them for long.
    const found = await this.#pool.query<{ id: number; text: string }>(
      `with added as (insert into name (text) select unnest($1::text[]) on conflict (text) do nothing returning id, text)
       select id, text from added union all select id, text from name where text = any($1)`,
      [unknown],
    );
    for (const { id, text } of found.rows) this.#known.set(text, id);
    const missed = unknown.filter((text) => !this.#known.has(text));
    if (missed.length > 0) await this.#learn(missed);
  }
}

export interface ToolName {
  readonly server: string;
  readonly name: string;
}

/** Head rows by tool. Created at the first report of a tool, together with its server's. */
export class Subjects {
  readonly #pool: pg.Pool;
  readonly #known = new Map<string, number>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async of(tools: readonly ToolName[]): Promise<(key: string) => number> {
    const wanted = new Map<string, Head>();
    for (const tool of tools) for (const head of headsOf(tool)) wanted.set(head.key, head);
    await this.#learn([...wanted.values()]);
    return (key) => {
      const id = this.#known.get(key);
      if (id === undefined) throw new Error(`no head row for ${key}`);
      return id;
    };
  }

  async #learn(heads: readonly Head[]): Promise<void> {
    const unknown = heads.filter(({ key }) => !this.#known.has(key)).sort((a, b) => (a.key < b.key ? -1 : 1));
    if (unknown.length === 0) return;
    if (this.#known.size + unknown.length > MOST_REMEMBERED) {
      this.#known.clear();
      return this.#learn(heads);
    }
    const keys = unknown.map(({ key }) => key);
    await this.#pool.query(
      `insert into subject (key, kind, server, name)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[]) on conflict (key) do nothing`,
      [keys, unknown.map((h) => h.kind), unknown.map((h) => shown(h.server)), unknown.map((h) => shown(h.name))],
    );
    const found = await this.#pool.query<{ id: number; key: string }>(
      'select id, key from subject where key = any($1)',
      [keys],
    );
    for (const { id, key } of found.rows) this.#known.set(key, id);
  }
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
