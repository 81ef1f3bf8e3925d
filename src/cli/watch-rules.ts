import { watch } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import type pg from 'pg';
import { currentRules, publishRules } from '../postgres/rules.ts';
import { Problem, reasonOf } from '../problem.ts';
import { findRulesFile, rulesFiles } from '../rules-file.ts';
import type { Cli } from './cli.ts';
import { keptToken, operator, signature } from './actor.ts';
import { changesBetween } from './rules-diff.ts';

/** Editors write a file in several steps. */
const SETTLED_AFTER_MS = 200;

export interface WatchedRules {
  /** For the list of what runs. */
  readonly described: string;
  close(): void;
}

/** Puts surety.json in force where it says something new, and again after every edit. An invalid edit changes nothing. */
export async function publishAndWatch(cli: Cli, pool: pg.Pool): Promise<WatchedRules> {
  const { terminal } = cli;
  const before = await publishIfNew(cli, pool);
  const file = before.file ?? rulesFiles()[0] ?? 'surety.json';
  let timer: NodeJS.Timeout | undefined;

  const reread = async () => {
    try {
      const { version, changed } = await publishIfNew(cli, pool);
      if (changed > 0) terminal.print(`Rules: ${shown(file)} is in force as version ${version} (${changed} changed).`);
    } catch (error) {
      const { version } = await currentRules(pool).catch(() => ({ version: undefined }));
      const stays = version === undefined ? 'The rules in force stay.' : `Version ${version} stays in force.`;
      terminal.complain(`Rules: ${reasonOf(error)}\n${error instanceof Problem ? `${error.wayOut} ` : ''}${stays}`);
    }
  };
  const onChange = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void reread(), SETTLED_AFTER_MS);
  };
  const notWatched = (error: unknown) => terminal.complain(`Rules: ${shown(file)} is not watched: ${reasonOf(error)}`);
  const stopWatching = watchFile(file, onChange, notWatched);
  const source = before.file === undefined ? `${shown(file)} is taken once it exists` : `${shown(file)}, watched`;
  return {
    described: `version ${before.version} (${source})`,
    close: () => {
      clearTimeout(timer);
      stopWatching();
    },
  };
}

/** Watches its directory: an editor that replaces the file would leave us watching the old one. */
function watchFile(file: string, onChange: () => void, onError: (error: unknown) => void): () => void {
  try {
    const watcher = watch(dirname(file), (_, name) => {
      if (name === basename(file)) onChange();
    });
    watcher.on('error', onError);
    return () => watcher.close();
  } catch (error) {
    // A machine can run out of watches; everything else still works.
    onError(error);
    return () => undefined;
  }
}

async function publishIfNew(
  { config }: Cli,
  pool: pg.Pool,
): Promise<{ file: string | undefined; version: number; changed: number }> {
  const found = await findRulesFile();
  const { rules, version } = await currentRules(pool);
  if (found === undefined) return { file: undefined, version, changed: 0 };
  const changed = changesBetween(rules, found.rules).length;
  if (changed === 0) return { file: found.file, version, changed };
  // Whoever may write the file and starts what follows it has the data directory: a token in the environment is for calls.
  const token = await keptToken(pool, config.home);
  const by = signature(token === undefined ? { name: operator() } : { name: token.name, token: token.id });
  const published = await publishRules(pool, found.rules, by, `from ${found.file}`);
  return { file: found.file, version: published, changed };
}

function shown(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : `./${near}`;
}
