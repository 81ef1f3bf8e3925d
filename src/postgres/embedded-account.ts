import { execFile } from 'node:child_process';
import { chmod, chown, lchown, readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Home } from '../home.ts';
import { Problem, reasonOf } from '../problem.ts';
import type { PostgresBinaries } from './embedded-binaries.ts';

/** A way to run Postgres under a user id it accepts: it refuses to be root. */
export interface Account {
  readonly how: string;
  /** Put before the command. */
  readonly prefix: readonly string[];
  /** Switched to when starting it. */
  readonly runAs?: { readonly uid: number; readonly gid: number };
  /** Whom the files must belong to, as we see it. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

/** PATH for finding `unshare` and `setpriv`; no message may be translated, no setting of the shell may leak in. */
export const POSTGRES_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

const REFUSES_ROOT = 'Postgres refuses to run as root, and no other way was found';

/** The first way that really reaches our files here. An ordinary user needs none. */
export async function chooseAccount(
  home: Home,
  binaries: PostgresBinaries,
  accounts: readonly Account[] | undefined,
): Promise<Account> {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { how: 'as ourselves', prefix: [], owner: { uid, gid } };
  const reasons: string[] = [];
  for (const account of accounts ?? (await rootAccounts())) {
    try {
      await adopt(home, account);
      await requireReach(account, binaries, home.postgres);
      return account;
    } catch (error) {
      reasons.push(`- ${account.how}: ${whatItSaid(error)}`);
    }
  }
  throw new Problem(
    `${REFUSES_ROOT} to use ${home.postgres}:\n${reasons.join('\n')}`,
    'Start as an ordinary user, move the project and SURETY_HOME out of directories only root may enter, or set DATABASE_URL.',
  );
}

interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * In order of preference. A user namespace changes nothing on the machine: the process is root to the file system,
 * hence reaches a clone under /root, and somebody else to itself. Containers often forbid it; then the process becomes
 * a real system user, with root's access to files where the plain user cannot reach them.
 */
export async function rootAccounts(): Promise<Account[]> {
  const { name, uid, gid } = await systemUser();
  // Without the last, access(2) does not count the capability, and Postgres asks that whether it may run itself.
  const keepFileAccess = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  return [
    {
      how: `in a user namespace, as ${name}`,
      prefix: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`],
      owner: { uid: 0, gid: 0 },
    },
    { how: `as the system user ${name}`, prefix: [], runAs: { uid, gid }, owner: { uid, gid } },
    {
      how: `as the system user ${name} with root's access to files`,
      prefix: ['setpriv', ...ids, ...keepFileAccess],
      owner: { uid, gid },
    },
  ];
}

/** Some unprivileged user that exists: initdb looks its own name up. None is created; that is for the machine's owner. */
async function systemUser(): Promise<SystemUser> {
  const users = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  for (const wanted of ['postgres', '_postgres', 'daemon', 'nobody']) {
    const found = users.find(({ name }) => name === wanted);
    if (found !== undefined) return found;
  }
  const [any] = users;
  if (any === undefined)
    throw new Problem(`${REFUSES_ROOT}: /etc/passwd has no other user`, 'Add one, or set DATABASE_URL.');
  return any;
}

/** Gives the files to the account, also those an earlier start left to another one. */
async function adopt(home: Home, { owner, runAs }: Account): Promise<void> {
  if (runAs !== undefined) await letPass(home.root, runAs.gid);
  const top = await stat(home.postgres);
  if (top.uid === owner.uid && top.gid === owner.gid) return;
  const inside = await readdir(home.postgres, { recursive: true });
  for (const entry of inside) await lchown(join(home.postgres, entry), owner.uid, owner.gid);
  // Last, since it is what says that the rest is done.
  await chown(home.postgres, owner.uid, owner.gid);
}

/** The account's group may pass through our directory, though not list it; everybody else stays out. */
async function letPass(directory: string, gid: number): Promise<void> {
  const { uid, mode } = await stat(directory);
  await chown(directory, uid, gid);
  await chmod(directory, mode | 0o010);
}

async function requireReach(account: Account, binaries: PostgresBinaries, directory: string): Promise<void> {
  const script =
    '"$1" --version >/dev/null && test -w "$2" && test "$(id -u)" != 0 || { echo "cannot run $1 and write to $2" >&2; exit 1; }';
  const [command, ...args] = [...account.prefix, 'sh', '-c', script, 'sh', binaries.postgres, directory];
  await promisify(execFile)(command, args, { env: POSTGRES_ENV, cwd: '/', timeout: 5000, ...account.runAs });
}

function whatItSaid(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  return said === '' ? reasonOf(error) : said.replaceAll('\n', '; ');
}
