import { HOLE, type Field } from '../../command/expand.ts';
import { doubt, type Consequence } from './consequence.ts';
import { namedCommand } from './named-command.ts';
import { codeFrom } from '../reading/streams.ts';

const VALUED = 'BbcDEeFIiJLlmOopPQRSWw';
/** To `sftp` it is an option of its own, to `ssh` a switch. */
const VALUED_ELSEWHERE = `${VALUED}X`;
/** Settings that name no command, no code and no file of settings. Nobody knows all the others. */
const TAME_SETTING =
  /^(?:StrictHostKeyChecking|(?:User|Global)KnownHostsFile|CheckHostIP|ConnectTimeout|ConnectionAttempts|BatchMode|Port|User|HostName|HostKeyA\w+|Identit\w+|LogLevel|ServerAlive\w+|TCPKeepAlive|Compression|RequestTTY|AddressFamily|ForwardAgent|ForwardX11|PreferredAuthentications|\w+Authentication|Pubkey\w+|KexAlgorithms|Ciphers|MACs|ExitOnForwardFailure|Control(?:Master|Path|Persist)|EscapeChar|NumberOfPasswordPrompts|HashKnownHosts|UpdateHostKeys)$/i;

/** `ssh` runs its operands elsewhere, and what its settings name here. */
export function ssh(args: readonly Field[], program: string): readonly Consequence[] {
  const found: Consequence[] = [];
  const because = `${program} runs what an option of it names`;
  const isShellAway = program === 'ssh' || program === 'autossh';
  let at = 0;
  let operands = 0;
  // `ssh` takes options behind the host as well, the others perhaps anywhere.
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (!/^-./.test(text)) {
      operands += 1;
      if (isShellAway && operands > 1) break;
      continue;
    }
    if (text === '--') continue;
    const taking = isShellAway ? VALUED : VALUED_ELSEWHERE;
    const valued = Array.from(text).findIndex((letter, index) => index > 0 && taking.includes(letter));
    if (valued === -1) continue;
    const attached = text.slice(valued + 1);
    const value = attached === '' ? (args[at + 1]?.text ?? HOLE) : attached;
    if (attached === '') at += 1;
    const letter = text.charAt(valued);
    if (letter === 'o') found.push(...setting(value, because));
    else if (letter === 'F' || letter === 'I') found.push(...doubt(because));
    else if (program !== 'ssh' && /[SD]/.test(letter)) found.push(...namedCommand(value, because));
    else if (program === 'sftp' && letter === 'b') found.push(codeFrom(value));
  }
  if (!isShellAway) return found;
  const remote = args.slice(at).map((arg) => arg.text);
  return remote.length === 0 ? found : [...found, { type: 'script', text: remote.join(' ') }];
}

function setting(text: string, because: string): readonly Consequence[] {
  const [, key = HOLE, value = ''] = /^\s*(\w+)(?:\s*=\s*|\s+)(.*)$/s.exec(text) ?? [];
  if (TAME_SETTING.test(key)) return [];
  return /Command$/i.test(key) ? namedCommand(value, because) : doubt(because);
}
