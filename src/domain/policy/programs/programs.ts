import { cargo } from './cargo.ts';
import { client, CLIENTS } from './clients.ts';
import { doubt, isUnsure } from './consequence.ts';
import { entr, fd, find } from './found-files.ts';
import { git } from './git.ts';
import { atOperand, commandAfter, valgrind } from './given-commands.ts';
import { eachScript, hyperfine, joined, joinedAfter, parallel, scriptAfter } from './given-scripts.ts';
import { gh, npm } from './packages.ts';
import { always, type Program } from './program.ts';
import { ssh } from './ssh.ts';
import { isStream } from '../reading/streams.ts';

/** Unless what it is told is one of these, and no more than that, it may run anything. */
function unless(harmless: RegExp): Program {
  return (args, program) =>
    !isUnsure(args) && harmless.test(args.map(({ text }) => text).join(' ')) ? [] : always(args, program);
}

/** It runs code, or asks for some, if this is what its first operand says. */
function evaluatesAfter(subcommand: RegExp): Program {
  return (args, program) =>
    subcommand.test(args.find(({ text }) => !text.startsWith('-'))?.text ?? '') ? always(args, program) : [];
}

/** The same where options with values may stand before the subcommand. */
function evaluatesWith(subcommand: RegExp): Program {
  return (args, program) => (args.some(({ text }) => subcommand.test(text)) ? always(args, program) : []);
}

/** What only looks; `#(x)` in a format runs x, and `;` begins another command. */
const TMUX_LOOKS =
  /^(?:-V|(?:ls|lsw|lsp|lsc|has|list-\w+|has-session|info|show|show-\w+|capture-pane|kill-session|attach)(?: [^#;]*)?)$/;

export const PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(CLIENTS.join(' '), client),
  find,
  git,
  ssh,
  autossh: ssh,
  scp: ssh,
  sftp: (args, program) => [...ssh(args, program), ...client(args, program)],
  npm,
  pnpm: npm,
  yarn: npm,
  gh,
  glab: gh,
  hub: gh,
  concurrently: eachScript,
  hyperfine,
  entr,
  cargo,
  parallel,
  fd,
  fdfind: fd,
  at: unless(/^-[lV]$/),
  ansible: scriptAfter(/^(?:-a|--args=?)(.*)$/s),
  crontab: unless(/^(?:-u \w+ )?-l$/),
  tmux: unless(TMUX_LOOKS),
  screen: unless(/^-(?:ls|list|v)$/),
  lftp: unless(/^(?:-[vh]|--(?:version|help))$/),
  watch: joined(/^-n$|^--interval$/),
  su: scriptAfter(/^(?:-[a-z]*c|--command)(?:=(.*))?$/s),
  runuser: scriptAfter(/^(?:-[a-z]*c|--command)(?:=(.*))?$/s),
  script: (args, program) => [
    ...scriptAfter(/^(?:-[a-z]*c|--command)(?:=?(.*))$/s)(args, program),
    ...always(args, program),
  ],
  flock: scriptAfter(/^(?:-c|--command)(?:=(.*))?$/s),
  sg: (args, program) => [
    ...scriptAfter(/^-c$/)(args, program),
    // ast-grep goes by the same name.
    ...(/^(?:run|scan|test|new|lsp|completions|help|-.*)$/.test(args[0]?.text ?? '') ? [] : always(args, program)),
  ],
  valgrind,
  rails: evaluatesAfter(/^(?:runner|r|console|c)$/),
  ...table('manage.py django-admin flask', evaluatesWith(/^(?:shell|shell_plus|dbshell)$/)),
  artisan: evaluatesAfter(/^(?:tinker|db)$/),
  mix: evaluatesAfter(/^eval$/),
  crystal: evaluatesAfter(/^eval$/),
  ln: (args, program) =>
    args.some(({ text }) => text !== '-' && isStream(text))
      ? doubt(`${program} makes a stream go by another name`)
      : [],
  'dpkg-architecture': joinedAfter(/^(?:-c|--command)=?(.*)$/s),
  'gpg-agent': (args) => {
    const at = args.findIndex(({ text }) => text === '--daemon');
    const command = args.slice(at + 1).findIndex(({ text }) => !text.startsWith('-'));
    return at === -1 || command === -1 ? [] : [{ type: 'command', fields: args.slice(at + 1 + command) }];
  },
  dc: (args, program) =>
    args.some(({ text }) => /^(?:-[eV]|--(?:expr|version|help))/.test(text))
      ? args.flatMap(({ text }) => (/[!\0]/.test(text) ? always(args, program) : []))
      : [{ type: 'input' }],
  gdb: (args, program) => [...commandAfter(args, '--args'), ...always(args, program)],
  lldb: (args, program) => [...commandAfter(args, '--'), ...always(args, program)],
  ...table('pydoc pydoc3 pdb pdb3', always),
  ...table(
    'batch expect ex ed start-stop-daemon run-parts watchexec xterm perf newgrp daemonize socat ' +
      'nodemon m4 facter dbus-send gdbus busctl machinectl capsh',
    always,
  ),
  ...table(
    'nsenter unshare linux32 linux64 systemd-run proot firejail bwrap dbus-run-session xvfb-run cpulimit prlimit setpriv rlwrap',
    atOperand(0),
  ),
  ...table(
    'setarch i386 i486 i586 i686 x86_64 uname26 runcon chpst softlimit gosu su-exec setuidgid s6-setuidgid',
    atOperand(1),
  ),
};

function table(names: string, program: Program): Readonly<Record<string, Program>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, program]));
}
