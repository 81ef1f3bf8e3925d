import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { Problem, codeOf, reasonOf } from '../problem.ts';
import type { TemporalTarget } from './connection.ts';
import { INVALID_ARGUMENT, isNotPermitted } from './grpc-status.ts';
import { SEARCH_ATTRIBUTES } from './search-attributes.ts';

// temporal.api.enums.v1.IndexedValueType, and the same as a command line says it.
const TYPE_NUMBER = { KEYWORD: 2, DATETIME: 6 } as const;
const TYPE_WORD = { KEYWORD: 'Keyword', DATETIME: 'Datetime' } as const;

const AGREE_WITHIN_MS = 15_000;

type SearchAttribute = (typeof SEARCH_ATTRIBUTES)[number];

/** `Name=Type`, as the dev server takes them. */
export const SEARCH_ATTRIBUTE_FLAGS = SEARCH_ATTRIBUTES.map(({ name, type }) => `${name}=${TYPE_WORD[type]}`);

/** Adds the attributes that are missing. One that has another type, or cannot be added, is a Problem. */
export async function registerSearchAttributes(connection: Connection, target: TemporalTarget): Promise<void> {
  const { namespace } = target;
  const missing = await findMissing(connection, namespace);
  if (missing.length === 0) return;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, TYPE_NUMBER[type]])),
    });
  } catch (error) {
    throw cannotBeAdded(missing, namespace, error);
  }
  // A cluster takes a while to agree on them, and until then a workflow that sets one stands still.
  for (const deadline = Date.now() + AGREE_WITHIN_MS; (await findMissing(connection, namespace)).length > 0;) {
    if (Date.now() > deadline) throw cannotBeAdded(missing, namespace, new Error('added, but not to be seen'));
    await sleep(250);
  }
}

async function findMissing(connection: Connection, namespace: string): Promise<SearchAttribute[]> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const registered = new Map<string, number>(Object.entries(customAttributes));
    for (const attribute of SEARCH_ATTRIBUTES) requireType(attribute, registered.get(attribute.name), namespace);
    return SEARCH_ATTRIBUTES.filter(({ name }) => !registered.has(name));
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    return findUnusable(connection, namespace);
  }
}

// The server itself says nothing of it: adding an attribute that exists with another type succeeds and does nothing.
function requireType({ name, type }: SearchAttribute, found: number | undefined, namespace: string): void {
  if (found === undefined || found === TYPE_NUMBER[type]) return;
  throw new Problem(
    `Search attribute ${name} of namespace ${namespace} has the wrong type (number ${found}, not ${TYPE_WORD[type]})`,
    'A type cannot be changed: remove the attribute if nothing else uses it, or use another namespace.',
  );
}

/** Where an operator's calls are closed to us, as on Temporal Cloud, a query still tells whether it knows a name. */
async function findUnusable(connection: Connection, namespace: string): Promise<SearchAttribute[]> {
  const unusable: SearchAttribute[] = [];
  for (const attribute of SEARCH_ATTRIBUTES) {
    const value = attribute.type === 'KEYWORD' ? 'x' : '2000-01-01T00:00:00Z';
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: `${attribute.name} = '${value}'` });
    } catch (error) {
      if (codeOf(error) !== INVALID_ARGUMENT) throw error;
      unusable.push(attribute);
    }
  }
  return unusable;
}

function cannotBeAdded(missing: readonly SearchAttribute[], namespace: string, cause: unknown): Problem {
  const names = missing.map(({ name }) => name).join(', ');
  const flags = missing.map(({ name, type }) => `--name ${name} --type ${TYPE_WORD[type]}`).join(' ');
  return new Problem(
    `Namespace ${namespace} lacks the search attributes ${names}, and we could not add them: ${reasonOf(cause)}. ` +
      'No workflow of ours can run without them.',
    `Have them added: temporal operator search-attribute create --namespace ${namespace} ${flags}\n` +
      'On Temporal Cloud this is done in the namespace settings, or with tcld namespace search-attributes add.',
    { cause },
  );
}
