import { DefaultPayloadConverter } from '@temporalio/common';
import type { Payload } from '@temporalio/common';

/**
 * A signal whose bytes are not what their encoding says would fail every workflow task from then on. Here it becomes a
 * value that no reader accepts, and is counted like any other garbage.
 */
class TotalConverter extends DefaultPayloadConverter {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the signature is the SDK's
  override fromPayload<T>(payload: Payload): T {
    try {
      return super.fromPayload<T>(payload);
    } catch {
      return { undecodable: true } as T;
    }
  }
}

export const payloadConverter = new TotalConverter();
