import type { Command } from 'commander';

type Register = (program: Command) => void;

interface Part {
  /** The commands that it registers. */
  readonly names: readonly string[];
  readonly load: () => Promise<Register>;
}

/** In the order of the help. Each is loaded when it is asked for: what others need is not waited for. */
const GROUPS: readonly (readonly [heading: string, parts: readonly Part[]])[] = [
  [
    'Run:',
    [
      part('up', async () => (await import('./up.ts')).registerUp),
      part('serve', async () => (await import('./serve.ts')).registerServe),
      part('demo', async () => (await import('./demo.ts')).registerDemo),
      part('doctor', async () => (await import('./doctor.ts')).registerDoctor),
    ],
  ],
  [
    'Look:',
    [
      part('status', async () => (await import('./status.ts')).registerStatus),
      part('history', async () => (await import('./history.ts')).registerHistory),
      part('explain', async () => (await import('./explain.ts')).registerExplain),
    ],
  ],
  [
    'Call:',
    [
      part('check', async () => (await import('./check.ts')).registerCheck),
      part('report', async () => (await import('./report.ts')).registerReport),
    ],
  ],
  [
    'Order:',
    [
      part('reset', async () => (await import('./reset.ts')).registerReset),
      part('block', async () => (await import('./block.ts')).registerBlock),
      part('recover', async () => (await import('./recover.ts')).registerRecover),
      part('break-glass', async () => (await import('./break-glass.ts')).registerBreakGlass),
      part('kill-switch', async () => (await import('./kill-switch.ts')).registerKillSwitch),
    ],
  ],
  [
    'Decide:',
    [
      part('approvals', async () => (await import('./approvals.ts')).registerApprovals),
      part('approve deny extend', async () => (await import('./decide.ts')).registerDecide),
      part('grants revoke', async () => (await import('./grants.ts')).registerGrants),
      part('token', async () => (await import('./token.ts')).registerToken),
      part('webhooks', async () => (await import('./webhooks.ts')).registerWebhooks),
    ],
  ],
  [
    'Rules:',
    [
      part('rules', async () => (await import('./rules.ts')).registerRules),
      part('policy', async () => (await import('./policy.ts')).registerPolicy),
      part('simulate', async () => (await import('./simulate.ts')).registerSimulate),
    ],
  ],
  [
    'Tools:',
    [
      part('exec', async () => (await import('./exec.ts')).registerExec),
      part('files', async () => (await import('./files.ts')).registerFiles),
      part('fetch', async () => (await import('./fetch.ts')).registerFetch),
      part('audit', async () => (await import('./audit.ts')).registerAudit),
    ],
  ],
];

/** Registers the command that was asked for, or all of them where the help, or what comes close, needs to know them. */
export async function registerCommands(program: Command, asked: string | undefined): Promise<void> {
  if (asked === '-V' || asked === '--version') return;
  const isAsked = ({ names }: Part) => asked !== undefined && names.includes(asked);
  const all = GROUPS.every(([, parts]) => !parts.some(isAsked));
  for (const [heading, parts] of GROUPS) {
    program.commandsGroup(heading);
    for (const { load } of all ? parts : parts.filter(isAsked)) (await load())(program);
    if (heading === GROUPS[0]?.[0]) program.helpCommand(true);
  }
  // Otherwise they would share ours, heading and all.
  for (const command of program.commands.filter(({ commands }) => commands.length > 0)) {
    command.commandsGroup('Commands:').helpCommand('help [command]', 'display help for command');
  }
}

function part(names: string, load: Part['load']): Part {
  return { names: names.split(' '), load };
}
