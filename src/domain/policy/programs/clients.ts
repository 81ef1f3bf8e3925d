import type { Field } from '../../command/expand.ts';
import type { Consequence } from './consequence.ts';
import { abbreviates } from './options.ts';

/** How a client is told what to do. One that is not told reads statements from its input, and some of them run programs. */
interface Client {
  /** Letters of options that tell it. */
  readonly tells?: string;
  /** Long options that tell it, set apart by blanks. */
  readonly tellsLong?: string;
  /** Letters that take the rest of their word, or the next one. */
  readonly valued?: string;
  /** Letters that take the rest of their word and nothing else. */
  readonly attached?: string;
  /** Long options that take the next word, set apart by blanks. */
  readonly valuedLong?: string;
  /** Long options begin with one dash, and all but these take the next word. */
  readonly flags?: RegExp;
  /** So many operands tell it. */
  readonly operands?: number;
  /** An operand that tells it by itself. */
  readonly script?: RegExp;
  /** An option with which it goes on reading once it has done what it was told. */
  readonly readsOn?: string;
}

const OUTPUT_MODES = 'ascii|box|column|csv|html|json|jsonlines|latex|line|list|markdown|quote|table|tabs|trash';
const SQLITE: Client = {
  flags: new RegExp(
    `^--?(?:${OUTPUT_MODES}|(?:no)?header|bail|batch|echo|readonly|safe|stats|append|deserialize|nofollow|unsigned|unredacted)$`,
  ),
  operands: 2,
};
const MYSQL: Client = {
  ...{ tells: 'e', tellsLong: 'execute', valued: 'uhPSD', attached: 'p#T' },
  valuedLong:
    'user host port socket database protocol delimiter default-character-set ssl-mode ssl-ca ssl-cert ssl-key',
};
/** `!x` among what they read runs x here, and so does `~!x`. */
const READS_COMMANDS: Client = {};

const KNOWN: Readonly<Record<string, Client>> = {
  sqlite3: SQLITE,
  sqlite: SQLITE,
  sqlcipher: SQLITE,
  duckdb: { ...SQLITE, tellsLong: 'c s f command file' },
  psql: {
    ...{ tells: 'cfl', tellsLong: 'command file list', valued: 'dhpUvLoPFRT' },
    valuedLong:
      'dbname host port username variable set pset output log-file field-separator record-separator table-attr',
  },
  mysql: MYSQL,
  mariadb: MYSQL,
  mongosh: {
    ...{ tells: 'f', tellsLong: 'eval file', script: /\.[cm]?js$/, readsOn: '--shell', valued: 'uph' },
    valuedLong: 'host port username password db authenticationDatabase authenticationMechanism tlsCAFile apiVersion',
  },
  cpan: { operands: 1 },
  ftp: READS_COMMANDS,
  pftp: READS_COMMANDS,
  ncftp: READS_COMMANDS,
  telnet: READS_COMMANDS,
  sftp: { tells: 'b', valued: 'BcDFiJloPRSsX' },
  psftp: { tells: 'b', valued: 'lP' },
  smbclient: { tells: 'cL', tellsLong: 'command list', valued: 'UWIpmODTAtb' },
  mail: READS_COMMANDS,
  mailx: READS_COMMANDS,
  's-nail': READS_COMMANDS,
};

/** How to ask a client what it is, if that is all that it is asked. */
const SAYS_WHAT_IT_IS = /^--?(?:version|help|V|\?)$/;

export const CLIENTS: readonly string[] = Object.keys(KNOWN);

export function isClient(program: string): boolean {
  return Object.hasOwn(KNOWN, program);
}

/** `psql < x` is `psql -f x`, and `mail a@b < x` sends x. */
export function isUsuallyFed(program: string): boolean {
  return /^(?:sqlite3|psql|mysql|mariadb|mailx?)$/.test(program);
}

export function client(args: readonly Field[], program: string): readonly Consequence[] {
  const isAsked = args.length === 1 && SAYS_WHAT_IT_IS.test(args[0]?.text ?? '');
  return isAsked || isTold(KNOWN[program] ?? READS_COMMANDS, args) ? [] : [{ type: 'input' }];
}

function isTold(known: Client, args: readonly Field[]): boolean {
  if (args.some(({ text }) => text === known.readsOn)) return false;
  let operands = 0;
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    const option = /^-./.test(text) ? optionOf(known, text) : undefined;
    if (option === 'tells') return true;
    if (option === 'takes the next') at += 1;
    if (option !== undefined) continue;
    operands += 1;
    if (operands === known.operands || known.script?.test(text) === true) return true;
  }
  return false;
}

function optionOf(known: Client, text: string): 'tells' | 'takes the next' | 'nothing' {
  const { tells = '', tellsLong = '', valued = '', attached = '', flags } = known;
  const [, name, value] = /^--([^=]+)(=.*)?$/s.exec(flags === undefined ? text : text.replace(/^-(?!-)/, '--')) ?? [];
  if (name !== undefined) {
    if (tellsLong.split(' ').includes(name) || abbreviates(name, tellsLong)) return 'tells';
    const takes = flags === undefined ? abbreviates(name, known.valuedLong) : !flags.test(`--${name}`);
    return takes && value === undefined ? 'takes the next' : 'nothing';
  }
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (tells.includes(letter)) return 'tells';
    if (attached.includes(letter)) return 'nothing';
    if (valued.includes(letter)) return at === text.length - 1 ? 'takes the next' : 'nothing';
  }
  return 'nothing';
}
