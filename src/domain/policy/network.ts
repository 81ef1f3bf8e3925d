import type { Field } from '../command/expand.ts';
import { commandPattern, matchesCommand, type Match } from './pattern.ts';
import type { Run } from './reading/reading.ts';

const CONNECTS = [
  ...(
    'curl wget nc ncat netcat socat telnet ftp sftp tftp lftp ssh scp autossh mosh rsync rclone aria2c lynx links w3m httpie http https xh axel ' +
    'dig nslookup host whois ping ping6 traceroute tracepath mtr nmap gh glab hub ' +
    'aws gcloud gsutil bq az kubectl oc helm doctl flyctl heroku vercel netlify wrangler skopeo crane ssh-keyscan ssh-copy-id sshfs websocat grpcurl ' +
    'sendmail yt-dlp ldapsearch iperf iperf3 wscat smbclient mail mailx mosquitto_pub mosquitto_sub'
  ).split(' '),
  ...of('git', 'clone fetch pull push ls-remote fetch-pack send-pack send-email'),
  ...['git submodule update', 'git submodule add', 'git remote update', 'git remote show', 'git remote prune'],
  ...['git archive --remote*', 'openssl s_client', 'gpg --recv-keys', 'pacman -S*'],
  ...of('docker podman nerdctl', 'pull push login search'),
  ...of('pip pip3 pipx', 'install download wheel'),
  ...of('npm pnpm yarn bun', 'install i ci add update up upgrade publish view info dlx create audit outdated ping'),
  ...of('svn', 'checkout co update up commit ci export'),
  ...of('hg', 'clone pull push incoming outgoing'),
  ...of('cargo', 'install add update fetch publish search'),
  ...of('go', 'get install'),
  ...['go mod download', 'go mod tidy', 'gem install', 'dotnet restore', 'rustup update', 'cdk deploy'],
  ...of('bundle', 'install update'),
  ...of('composer', 'install require update'),
  ...of('brew', 'install update upgrade'),
  ...of('poetry uv pdm conda mamba', 'install add sync lock update create'),
  ...of('terraform tofu', 'init plan apply destroy refresh import'),
  ...['mvn deploy', 'pulumi up', 'pulumi preview', 'ansible-playbook', 'twine upload'],
  ...of('apt apt-get dnf yum apk pacman zypper snap', 'install update upgrade add'),
].map(commandPattern);

/** They fetch what is not there. */
const MAY_CONNECT = [
  ...'npx pnpx bunx uvx mvn mvnw gradle gradlew'.split(' '),
  ...['npm exec', 'npm x', 'bun x', 'pipx run', 'uv run', 'uv tool run', 'go run'],
  ...of('docker podman nerdctl', 'run build create compose'),
  ...['python -m http.server', 'python3 -m http.server', 'php -S *'],
].map(commandPattern);

const DATABASES =
  /^(?:psql|pg_dump|pg_restore|pg_isready|createdb|dropdb|mysql|mysqldump|mariadb|redis-cli|mongo|mongosh|mongodump|sqlcmd|clickhouse-client|cqlsh)$/;
const HERE = /^(?:localhost|127\.[\d.]+|::1|\[::1\]|\/.*)?$/;
/** Of those that mostly do, what they are told to say, or to do here. */
const STAYS: ReadonlyMap<string, RegExp> = new Map([
  ['rsync', /^[^:]*$/],
  ['helm', /^(?:template|lint|create|package|version|env)(?: |$)/],
  ['kubectl', /^(?:config|kustomize)(?: |$)|^version --client/],
  ['aws', /^configure(?: |$)/],
  ['gh', /^(?:alias|completion|config)(?: |$)/],
]);

/** Whether a command talks to other machines. */
export function connects(run: Pick<Run, 'program' | 'args'>): Match {
  if (isBareYarn(run.program, run.args) || isRemoteDatabase(run)) return 'yes';
  const told = run.args.map(({ text }) => text);
  if (/^(?:[\w-]+ )?--?(?:help|version|V)$/.test(told.join(' '))) return 'no';
  if (run.args.every(({ open, many }) => !open && !many) && STAYS.get(run.program)?.test(told.join(' ')) === true)
    return 'no';
  const matches = CONNECTS.map((pattern) => matchesCommand(pattern, run));
  if (matches.includes('yes')) return 'yes';
  const mayFetch = !isOffline(run) && MAY_CONNECT.some((pattern) => matchesCommand(pattern, run) !== 'no');
  return mayFetch || matches.includes('maybe') ? 'maybe' : 'no';
}

/** A client of a database that is told of another machine. */
function isRemoteDatabase({ program, args }: Pick<Run, 'program' | 'args'>): boolean {
  if (!DATABASES.test(program)) return false;
  return args.some(({ text }, at) => {
    const [, attached] = /^(?:-h|--host=?)(.*)$/s.exec(text) ?? [];
    const [, address] = /^[a-z+]+:\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:?]*)/.exec(text) ?? [];
    const host = address ?? (attached === '' ? (args[at + 1]?.text ?? '') : attached);
    return host !== undefined && !HERE.test(host);
  });
}

/** `yarn` by itself installs. */
function isBareYarn(program: string, args: readonly Field[]): boolean {
  return (
    program === 'yarn' && args.every(({ text }) => text.startsWith('-') && !/^-(?:v|h|-version|-help)$/.test(text))
  );
}

/** What tells it so, and stands where it is one of its own options. */
const OFFLINE: readonly (readonly [programs: RegExp, option: RegExp])[] = [
  [/^(?:mvnw?|gradlew?)$/, /^(?:-o|--offline)$/],
  [/^(?:npx|pnpx|bunx|npm|uvx?)$/, /^--(?:offline|no-install|no)$/],
  [/^(?:docker|podman|nerdctl)$/, /^--network=none$/],
];

function isOffline({ program, args }: Pick<Run, 'program' | 'args'>): boolean {
  const [, option] = OFFLINE.find(([programs]) => programs.test(program)) ?? [];
  if (option === undefined) return false;
  // Behind what it runs it would be an option of that; a build tool has its goals anywhere.
  const end = /^(?:mvn|gradle)/.test(program) ? -1 : args.findIndex(({ text }) => !/^-|^(?:run|exec|tool)$/.test(text));
  return (end === -1 ? args : args.slice(0, end)).some(({ text }) => option.test(text));
}

function of(programs: string, subcommands: string): readonly string[] {
  return programs.split(' ').flatMap((program) => subcommands.split(' ').map((each) => `${program} ${each}`));
}
