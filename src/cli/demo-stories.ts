import type { Stage } from './demo-stage.ts';
import { keyOf } from './demo-stage.ts';

const MOST_FAILURES = 12;

/** A service degrades, is held, tried again, and earns trust back. */
export async function degradingService(stage: Stage): Promise<void> {
  const http = { server: 'demo', tool: 'http_request' } as const;
  const args = { url: 'https://api.example.com/data' };
  const scope = 'host:api.example.com';
  const fail = () => stage.report({ ...http, args, result: { status: 503, body: 'Service Unavailable' } });
  stage.title('1. A service degrades');
  let state = await after(fail);
  let failures = 1;
  for (; state === 'TRUSTED' && failures < MOST_FAILURES; failures += 1) state = await after(fail);
  stage.say(`http_request to api.example.com answers 503, ${failures} times.`);
  stage.saw(`demo/http_request for api.example.com is ${state}.`);
  stage.link(keyOf(http.server, http.tool));
  if (state !== 'ESCALATED') {
    unlike(stage);
    return;
  }
  const other = { ...http, args: { url: 'https://docs.example.org/' } };
  stage.saw(`Another host: ${(await stage.check(other, ({ decision }) => decision === 'allow')).decision}.`);
  const held = await stage.check({ ...http, args }, ({ decision }) => decision === 'ask');
  stage.saw(`The same host: ${held.decision}. ${held.because}.`);

  stage.say('A person allows one call all the same. It fails again.');
  stage.saw(`Still ${await after(fail)}: one more failure does not block it.`);

  stage.say(
    '30 minutes later it would be tried again by itself. Here an operator orders `recover`, so you need not wait.',
  );
  await stage.order('recover', http, 'the demo does not wait half an hour');
  state = await stage.stateOf(http, scope);
  const probing = await stage.check(
    { ...http, args },
    (decision) => decision.decision === 'ask' && decision.via === 'probe',
  );
  stage.saw(
    `${state}: ${probing.decision}${probing.decision === 'ask' ? ` via ${probing.via}` : ''}, one call at a time.`,
  );
  const run = stage.guarded(http);
  let successes = 0;
  for (; state === 'RECOVERING' && successes < MOST_FAILURES; successes += 1) {
    await run(args);
    state = await stage.stateOf(http, scope);
  }
  stage.say(`The service is back. guard() lets one probe after the other through: ${successes} succeed.`);
  stage.saw(`demo/http_request for api.example.com is ${state} again.`);

  async function after(happens: () => Promise<unknown>) {
    await happens();
    return stage.stateOf(http, scope);
  }
}

/** Errors that say nothing bad about a tool, and one command that does. */
export async function dangerousCommand(stage: Stage): Promise<void> {
  const bash = { server: 'demo', tool: 'bash' } as const;
  stage.title('2. A command that should not have run');
  for (const command of ['rm /protected/file', 'cat /protected/secrets']) {
    await stage.report({ ...bash, args: { command }, result: { exitCode: 1, stderr: 'Permission denied' } });
  }
  stage.say('bash meets "Permission denied" twice. That happens, and is not held against it.');
  stage.saw(`demo/bash is ${await stage.stateOf(bash)}.`);
  const args = { command: 'sudo rm -rf /' };
  await stage.report({
    ...bash,
    args,
    result: { exitCode: 1, stderr: "rm: cannot remove '/proc/1': Permission denied" },
  });
  stage.say('Then it has run `sudo rm -rf /`. (Nothing ran here: the demo only reports it.)');
  stage.saw(`demo/bash is ${await stage.stateOf(bash)}.`);
  stage.link(keyOf(bash.server, bash.tool));
  const denied = await stage.check({ ...bash, args: { command: 'ls' } }, ({ decision }) => decision === 'deny');
  stage.saw(`Even \`ls\`: ${denied.decision}. ${denied.because}.`);
  stage.say('Time does not heal that. A person looks at it and resets.');
  await stage.order('reset', bash, 'looked at: it was the demo');
  stage.saw(`demo/bash is ${await stage.stateOf(bash)}.`);
}

/** One server does not answer; its tools are held, other servers are not. */
export async function silentServer(stage: Stage): Promise<void> {
  const server = 'demo-atlassian';
  const other = { server: 'demo-github', tool: 'search' };
  stage.title('3. A server that does not answer');
  await stage.report({ ...other, args: { query: 'is:open' }, result: { items: [] } });
  await stage.report({
    server,
    tool: 'search',
    args: { query: 'project:PROJ' },
    error: 'Request timed out after 30 s',
  });
  await stage.report({
    server,
    tool: 'create_issue',
    args: { project: 'PROJ' },
    error: 'Request timed out after 30 s',
  });
  stage.say('Two tools of the MCP server demo-atlassian time out, one call each.');
  const state = await stage.stateOf({ server });
  stage.saw(`server demo-atlassian is ${state}.`);
  stage.link(keyOf(server));
  if (state !== 'ESCALATED') {
    unlike(stage);
    return;
  }
  const held = await stage.check({ server, tool: 'list_projects' }, ({ decision }) => decision === 'ask');
  stage.saw(`A third tool of it: ${held.decision}. ${held.because}.`);
  const free = await stage.check(other, ({ decision }) => decision === 'allow');
  stage.saw(`demo-github/search: ${free.decision}, ${free.because}.`);
}

function unlike(stage: Stage): void {
  stage.say('The rules in force here judge otherwise than the default ones: surety rules show. The story ends early.');
}
