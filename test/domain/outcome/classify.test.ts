import { describe, expect, it } from 'vitest';
import { judge } from '../../../src/domain/outcome/detect.ts';
import { Report } from '../../../src/domain/outcome/report.schema.ts';
import cases from '../../fixtures/classification.json' with { type: 'json' };

const failure = (report: Omit<Parameters<typeof judge>[0], 'tool'> & { tool?: string }) =>
  judge({ tool: 'some_tool', success: false, ...report });

describe('the shared cases', () => {
  it.each(cases)('$id', ({ report, expect: expected }) => {
    expect(judge(Report.parse(report))).toMatchObject({ kind: 'failure', ...expected });
  });
});

describe('by the command that ran', () => {
  const ran = (command: unknown, error = 'Permission denied', tool = 'bash') =>
    failure({ tool, args: { command }, error });

  it.each([
    'sudo rm -rf /',
    'cd /tmp; sudo rm -r -f /etc',
    "bash -c 'sudo rm -rf /usr'",
    'rm -rf /',
    ['sudo', 'rm', '-rf', '/'],
  ])('%s is a security failure, beyond doubt', (command) => {
    expect(ran(command)).toMatchObject({ severity: 'security', category: 'quality', evidence: 'structured' });
  });

  it.each([
    'rm /protected/file',
    'cat /protected/secrets',
    'echo "sudo rm -rf /"',
    "git commit -m 'rm -rf /'",
    'sudo apt update',
  ])('%s is judged by its answer', (command) => {
    expect(ran(command)).toMatchObject({ severity: 'permission', category: 'quality' });
  });

  it.each([
    'Blocked by policy',
    'Command refused by the user',
    'user rejected',
    'This command is not allowed by the sandbox rules',
  ])('a command that was refused did not run: %s', (error) => {
    expect(ran('sudo rm -rf /', error)).toMatchObject({ severity: 'permission', category: 'refusal' });
  });

  it('what a program prints is not held against the server that ran it', () => {
    const result = { exit_code: 6, stderr: 'curl: (6) Could not resolve host: dead.test' };
    expect(failure({ tool: 'bash', result })).toMatchObject({ category: 'quality' });
  });

  it('a process that a signal ended is a crash, also without an exit code', () => {
    expect(failure({ result: { exit_code: null, signal: 'SIGSEGV' } })).toMatchObject({ severity: 'crash' });
  });

  it('nor did one that a server turned away', () => {
    expect(failure({ tool: 'remote_shell', args: { command: 'sudo rm -rf /' }, httpStatus: 403 })).toMatchObject({
      severity: 'permission',
      category: 'auth',
    });
  });

  it('of a tool that may only speak of the command, the evidence is weaker', () => {
    expect(ran('sudo rm -rf /', 'timeout', 'explain_command')).toMatchObject({
      severity: 'security',
      evidence: 'text',
    });
  });

  it('an exit code that is an answer is no fault of the tool', () => {
    const exit1 = { exit_code: 1, stdout: '', stderr: '' };
    expect(failure({ tool: 'bash', args: { command: 'grep x file' }, result: exit1 })).toMatchObject({
      severity: 'not_found',
    });
    expect(failure({ tool: 'bash', args: { command: 'make' }, result: exit1 })).toMatchObject({
      severity: 'server_error',
    });
    expect(
      failure({ tool: 'bash', args: { command: 'grep x file' }, result: { ...exit1, stderr: 'grep: broken' } }),
    ).toMatchObject({ severity: 'server_error' });
  });

  it('what a program prints about security is not what the tool says', () => {
    const result = { exit_code: 1, stderr: 'no version of malware scan' };
    expect(failure({ tool: 'bash', args: { command: 'pip install x' }, result })).toMatchObject({
      severity: 'server_error',
    });
  });
});

describe('by the reporter', () => {
  it('a given severity wins, and counts as evidence', () => {
    const given = failure({ severity: 'security', error: 'not found', httpStatus: 404 });
    expect(given).toMatchObject({ severity: 'security', evidence: 'structured' });
    expect(failure({ severity: 'transient', tool: 'bash', args: { command: 'sudo rm -rf /' } })).toMatchObject({
      severity: 'transient',
    });
  });

  it('the category still comes from the facts, or from a severity that implies one', () => {
    expect(failure({ severity: 'server_error', httpStatus: 401 })).toMatchObject({ category: 'auth' });
    expect(failure({ severity: 'timeout' })).toMatchObject({ category: 'reachability' });
    expect(failure({ severity: 'repeated_auth' })).toMatchObject({ category: 'auth' });
    expect(failure({ severity: 'crash' })).toMatchObject({ category: 'quality' });
  });
});

describe('by numbers', () => {
  it.each([
    [400, 'server_error', 'quality'],
    [401, 'permission', 'auth'],
    [403, 'permission', 'auth'],
    [404, 'not_found', 'quality'],
    [407, 'server_error', 'quality'],
    [410, 'server_error', 'quality'],
    [429, 'transient', 'quality'],
    [500, 'server_error', 'quality'],
    [502, 'server_error', 'reachability'],
    [503, 'server_error', 'reachability'],
    [504, 'server_error', 'reachability'],
    [599, 'server_error', 'quality'],
  ])('HTTP %i is %s, %s', (httpStatus, severity, category) => {
    expect(failure({ httpStatus })).toMatchObject({ severity, category });
  });

  it('a status that says too little leaves it to the message', () => {
    expect(failure({ httpStatus: 400, error: 'field is required' })).toMatchObject({ severity: 'invalid_input' });
    expect(failure({ httpStatus: 400, error: 'Invalid API key' })).toMatchObject({
      severity: 'invalid_input',
      category: 'auth',
    });
    expect(failure({ httpStatus: 408, error: 'Request Timeout' })).toMatchObject({ severity: 'timeout' });
  });

  it.each([
    [1, 'server_error', 'quality'],
    [124, 'timeout', 'quality'],
    [126, 'permission', 'quality'],
    [127, 'not_found', 'quality'],
    [137, 'crash', 'quality'],
    [139, 'crash', 'quality'],
    [-9, 'crash', 'quality'],
    [3221225477, 'crash', 'quality'],
    [255, 'server_error', 'quality'],
  ])('exit code %i is %s, %s', (exit_code, severity, category) => {
    expect(failure({ result: { exit_code } })).toMatchObject({ severity, category });
  });

  it.each([
    [{ code: -32601, message: 'x' }, 'not_found'],
    [{ code: -32602, message: 'x' }, 'invalid_input'],
    [{ code: -32001, message: 'x' }, 'timeout'],
    ['MCP error -32602: nonsense', 'invalid_input'],
  ])('JSON-RPC %j is %s', (error, severity) => {
    expect(failure({ error })).toMatchObject({ severity });
  });
});

describe('by names', () => {
  it.each([
    ['ETIMEDOUT', 'timeout', 'reachability'],
    ['ECONNREFUSED', 'server_error', 'reachability'],
    ['ECONNRESET', 'server_error', 'reachability'],
    ['ENOTFOUND', 'server_error', 'reachability'],
    ['EPIPE', 'crash', 'reachability'],
    ['EACCES', 'permission', 'quality'],
    ['ENOENT', 'not_found', 'quality'],
    ['ZodError', 'validation', 'quality'],
    ['TimeoutError', 'timeout', 'reachability'],
    ['asyncio.exceptions.TimeoutError', 'timeout', 'reachability'],
    ['AbortError', 'timeout', 'quality'],
    ['rate_limit_error', 'transient', 'quality'],
    ['authentication_error', 'permission', 'auth'],
    ['ValueError', 'invalid_input', 'quality'],
    ['FileNotFoundError', 'not_found', 'quality'],
    ['KeyError', 'server_error', 'quality'],
  ])('%s is %s, %s', (name, severity, category) => {
    expect(failure({ error: { code: name } })).toMatchObject({ severity, category });
    expect(failure({ errorType: name })).toMatchObject({ severity, category });
  });
});

describe('by the message', () => {
  it.each([
    ['no such file or directory', 'not_found', 'quality'],
    ['the record does not exist', 'not_found', 'quality'],
    ['crash report not found', 'not_found', 'quality'],
    ['Could not resolve host: api.example.com', 'server_error', 'reachability'],
    ['host not found', 'not_found', 'reachability'],
    ['Permission denied', 'permission', 'quality'],
    ['Permission denied (publickey).', 'permission', 'auth'],
    ["EACCES: permission denied, open '/x'", 'permission', 'quality'],
    ['401 Unauthorized', 'permission', 'auth'],
    ['authentication failed', 'server_error', 'auth'],
    ['Invalid API key provided', 'invalid_input', 'auth'],
    ['The security token included in the request is expired', 'server_error', 'auth'],
    ['expired token', 'server_error', 'auth'],
    ['invalid token at line 3', 'invalid_input', 'quality'],
    ['the request timed out', 'timeout', 'reachability'],
    ['context deadline exceeded', 'timeout', 'reachability'],
    ['timeout must be a positive number', 'invalid_input', 'quality'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'server_error', 'reachability'],
    ['MCP error -32000: Connection closed', 'crash', 'reachability'],
    ['the MCP server process exited', 'crash', 'reachability'],
    ['Request failed with status code 503', 'server_error', 'reachability'],
    ['HTTP 404', 'not_found', 'quality'],
    ['command exited with code 137', 'crash', 'quality'],
    ['process exited with code 1', 'server_error', 'quality'],
    ['rate limit exceeded', 'transient', 'quality'],
    ['checksum mismatch', 'server_error', 'quality'],
    ['504 Gateway Timeout', 'timeout', 'reachability'],
    ['Killed', 'crash', 'quality'],
    ['process was terminated', 'crash', 'quality'],
    ['the model is overloaded', 'server_error', 'quality'],
    ['data corruption detected', 'corruption', 'quality'],
    ['segmentation fault (core dumped)', 'crash', 'quality'],
    ['panic: runtime error', 'crash', 'quality'],
    ['killed by signal 9', 'crash', 'quality'],
    ['response failed schema validation', 'validation', 'quality'],
    ['Unexpected token < in JSON at position 0', 'validation', 'quality'],
    ['security violation', 'security', 'quality'],
    ['SQL injection detected', 'security', 'quality'],
    ['dependency injection failed', 'server_error', 'quality'],
    ['an unexpected error occurred', 'server_error', 'quality'],
    ['cache invalidation failed', 'server_error', 'quality'],
    ['something went wrong', 'server_error', 'quality'],
  ])('"%s" is %s, %s', (error, severity, category) => {
    expect(failure({ error })).toMatchObject({ severity, category, evidence: 'text' });
  });
});
