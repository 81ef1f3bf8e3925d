import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, Deliveries } from '../activities/index.ts';
import { SuretyState } from '../src/temporal/search-attributes.ts';

export interface DeliveryInput {
  /** Of its row, which holds what is sent and where to: neither is in this history. */
  readonly id: string;
  readonly run: number;
  readonly retrySeconds: number;
  /** For people: what is told to whom, such as "approval.asked to hooks.example.com". */
  readonly title: string;
}

const ledger = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

/** One message to one webhook: tried until it is delivered, refused for good, or its time is over. */
export async function webhookDelivery(input: DeliveryInput): Promise<string> {
  refuseMalformed(input);
  const { id, run, retrySeconds } = input;
  // A queue of its own, where receivers that hang keep nobody waiting but each other.
  const { deliverWebhook } = proxyActivities<Deliveries>({
    taskQueue: `${workflowInfo().taskQueue}-webhooks`,
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: retrySeconds * 1000,
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  });
  show(input, 'PENDING', 'It is sent until it is taken; each attempt is listed under the activity.');
  try {
    const answered = await deliverWebhook({ id, run });
    show(input, 'DELIVERED', answered);
    return answered;
  } catch (error) {
    const because = isCancellation(error) ? 'somebody cancelled it' : reasonOf(error);
    await CancellationScope.nonCancellable(() => ledger.buryDelivery({ id, run }, because));
    show(input, 'DEAD', `${because}. \`surety webhooks replay ${id}\` sends it again.`);
    if (isCancellation(error)) throw error;
    return `given up: ${because}`;
  }
}

function show({ title }: DeliveryInput, state: string, words: string): void {
  setCurrentDetails(`**${title}**: ${state.toLowerCase()}\n\n${words}`);
  if (state !== 'PENDING') upsertSearchAttributes([{ key: SuretyState, value: state }]);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? cause.message : 'nobody answered in time';
}

/** Anybody with access to the namespace may start this workflow, with anything. */
function refuseMalformed(input: unknown): void {
  const { id, run, retrySeconds } = (typeof input === 'object' ? (input ?? {}) : {}) as Partial<DeliveryInput>;
  if (typeof id !== 'string' || !Number.isInteger(run) || !(Number(retrySeconds) > 0)) {
    throw ApplicationFailure.nonRetryable(
      'webhookDelivery is started by Surety, for a row of its ledger',
      'InvalidInput',
    );
  }
}
