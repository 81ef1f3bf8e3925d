import type { Connection } from '@temporalio/client';
import type { Config } from '../config.ts';
import { codeOf } from '../problem.ts';
import { readStack } from '../stack/stack-file.ts';
import { connectTemporal, targetFromEnvironment } from '../temporal/connection.ts';
import type { TemporalTarget } from '../temporal/connection.ts';
import { INVALID_ARGUMENT, isNotPermitted } from '../temporal/grpc-status.ts';
import { readInstallation } from '../temporal/namespace.ts';
import { SEARCH_ATTRIBUTES } from '../temporal/search-attributes.ts';
import { failed, failedBy, note, ok } from './finding.ts';
import type { Finding } from './finding.ts';
import { roughly } from './time.ts';

type Tell = (finding: Finding) => void;

const SILENT_MS = 120_000;
const DAY_MS = 86_400_000;

export async function checkTemporal(config: Config, installation: string | undefined, tell: Tell): Promise<void> {
  let connection: Connection | undefined;
  try {
    const target = await temporalOf(config);
    if (target === undefined) {
      tell(failed('Temporal', 'no stack runs and TEMPORAL_ADDRESS is not set', 'Start it: surety up.'));
      return;
    }
    connection = await connectTemporal(target);
    tell(ok('Temporal', `${target.address}, namespace ${target.namespace}`));
    tell(await checkClaim(connection, target, installation));
    tell(await checkAttributes(connection, target.namespace));
    tell(await checkWorkers(connection, target.namespace, config.taskQueue));
    tell(await checkWorkflows(connection, target.namespace));
  } catch (error) {
    tell(failedBy('Temporal', error, 'Check TEMPORAL_ADDRESS and that the server runs.'));
  } finally {
    await connection?.close();
  }
}

/** As the environment says, else as the running stack does. */
export async function temporalOf(config: Config): Promise<TemporalTarget | undefined> {
  if (config.temporal.external) return targetFromEnvironment(config.temporal.env);
  const status = await readStack(config.home);
  if (!status.running) return undefined;
  const { temporalAddress: address, namespace } = status.stack;
  return { address, namespace, connectionOptions: { address } };
}

async function checkClaim(
  connection: Connection,
  target: TemporalTarget,
  ofDatabase: string | undefined,
): Promise<Finding> {
  const ofNamespace = await readInstallation(connection, target);
  if (ofDatabase === undefined) return note('Claim', 'the ledger could not be asked which installation it belongs to');
  if (ofNamespace === ofDatabase) return ok('Claim', 'namespace and ledger belong to one installation');
  return ofNamespace === undefined
    ? note('Claim', `namespace ${target.namespace} does not say which installation uses it`)
    : failed(
        'Claim',
        `namespace ${target.namespace} belongs to installation ${ofNamespace}, the ledger to ${ofDatabase}`,
        'Set DATABASE_URL and TEMPORAL_NAMESPACE so that both are of one installation.',
      );
}

async function checkAttributes(connection: Connection, namespace: string): Promise<Finding> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = SEARCH_ATTRIBUTES.filter(({ name }) => !(name in customAttributes)).map(({ name }) => name);
    return missing.length === 0
      ? ok('Search attributes', SEARCH_ATTRIBUTES.map(({ name }) => name).join(', '))
      : failed('Search attributes', `missing: ${missing.join(', ')}`, 'A start of `surety up` adds them.');
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    return note('Search attributes', 'this server does not let us list them');
  }
}

async function checkWorkers(connection: Connection, namespace: string, taskQueue: string): Promise<Finding> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
  });
  const ages = pollers.map(({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000);
  const live = ages.filter((age) => age < SILENT_MS).length;
  const wayOut = 'Start one: surety up, or npm run worker. Nothing is lost meanwhile; it is applied later.';
  if (live > 0) return ok('Workers', `${live} polling task queue ${taskQueue}`);
  const newest = Math.min(...ages);
  return failed(
    'Workers',
    ages.length === 0
      ? `none is polling task queue ${taskQueue}`
      : `none has polled task queue ${taskQueue} for ${roughly(newest)}`,
    wayOut,
  );
}

/** A workflow whose code cannot go on is retried for ever and looks as if it ran; the server knows better. */
async function checkWorkflows(connection: Connection, namespace: string): Promise<Finding> {
  const count = async (query: string) => {
    const counted = await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return Number(counted.count);
  };
  const ours = 'WorkflowType = "toolTrust" AND';
  const yesterday = new Date(Date.now() - DAY_MS).toISOString();
  const ended = await count(`${ours} ExecutionStatus = "Failed" AND CloseTime > "${yesterday}"`);
  const stuck = await count(`${ours} TemporalReportedProblems IS NOT NULL`).catch((error: unknown) => {
    // Older servers do not know the attribute.
    if (codeOf(error) === INVALID_ARGUMENT) return 0;
    throw error;
  });
  if (stuck > 0) {
    const wayOut =
      'Temporal UI lists them under "Task Failures". Often the worker is of another version than the one that began them: see docs/operate.md.';
    return failed('Workflows', `${stuck} cannot go on: their tasks fail and are tried again`, wayOut);
  }
  return ended === 0
    ? ok('Workflows', 'none fails')
    : note('Workflows', `${ended} ended in failure within 24 h; each starts again with its next bell`);
}
