import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { Problem, codeOf } from '../problem.ts';
import type { TemporalTarget } from './connection.ts';
import { NOT_FOUND, isNotPermitted } from './grpc-status.ts';
import { registerSearchAttributes } from './register-search-attributes.ts';

/** Closed workflows are kept this long at least, so that an operator can still read last week's. */
const RETENTION_DAYS = 7;
const DAY_SECONDS = 86_400;

const INSTALLATION_KEY = 'surety.installation';

/** Makes a namespace of our own ready, or checks that of somebody else. Returns what the operator should know. */
export async function prepareNamespace(
  connection: Connection,
  target: TemporalTarget,
  ours: boolean,
): Promise<string[]> {
  const { config } = await describe(connection, target);
  await registerSearchAttributes(connection, target);
  const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  if (seconds >= RETENTION_DAYS * DAY_SECONDS) return [];
  if (ours) {
    const workflowExecutionRetentionTtl = msToTs(`${RETENTION_DAYS} days`);
    await connection.workflowService.updateNamespace({
      namespace: target.namespace,
      config: { workflowExecutionRetentionTtl },
    });
    return [];
  }
  const days = Math.round((seconds / DAY_SECONDS) * 10) / 10;
  return [
    `Namespace ${target.namespace} keeps closed workflows for ${days} days only; ${RETENTION_DAYS} or more are suggested ` +
      `(temporal operator namespace update --retention ${RETENTION_DAYS}d --namespace ${target.namespace}).`,
  ];
}

/** The installation that uses this namespace, if one has said so. */
export async function readInstallation(connection: Connection, target: TemporalTarget): Promise<string | undefined> {
  const { namespaceInfo } = await describe(connection, target);
  // Keys cannot be removed from a namespace, only emptied.
  const claimed = namespaceInfo?.data?.[INSTALLATION_KEY];
  return claimed === '' ? undefined : claimed;
}

/** Claims the namespace. Returns why it could not be done where namespaces are managed elsewhere, as on Temporal Cloud. */
export async function writeInstallation(
  connection: Connection,
  { namespace }: TemporalTarget,
  installation: string,
): Promise<string | undefined> {
  try {
    // Other keys of the data are kept: the server merges.
    await connection.workflowService.updateNamespace({
      namespace,
      updateInfo: { data: { [INSTALLATION_KEY]: installation } },
    });
    return undefined;
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    return `Namespace ${namespace} does not let us record which installation uses it, so a second one will not be noticed.`;
  }
}

async function describe(connection: Connection, { address, namespace }: TemporalTarget) {
  try {
    return await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (codeOf(error) === NOT_FOUND) {
      throw new Problem(
        `Temporal at ${address} has no namespace ${JSON.stringify(namespace)}`,
        `Create it (temporal operator namespace create --retention ${RETENTION_DAYS}d --namespace ${namespace}) or set TEMPORAL_NAMESPACE.`,
        { cause: error },
      );
    }
    if (!isNotPermitted(error)) throw error;
    throw new Problem(
      `Temporal at ${address} refuses us namespace ${JSON.stringify(namespace)}`,
      'Check TEMPORAL_NAMESPACE and TEMPORAL_API_KEY or the client certificate.',
      { cause: error },
    );
  }
}
