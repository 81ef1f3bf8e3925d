import type { Escalation } from '../domain/gate/decision.ts';

export interface TrustChange {
  readonly server: string;
  readonly tool: string;
  readonly scope?: string;
  readonly reason: string;
  /** A sentence for people. */
  readonly notice: string;
  readonly escalation?: Escalation;
}

export interface GateEvents {
  escalated: TrustChange;
  recovering: TrustChange;
  recovered: TrustChange;
  blocked: TrustChange;
  /** The gate has lost or found touch with the ledger. */
  situation: { readonly situation: 'fresh' | 'stale' | 'empty'; readonly because: string };
  /** A report made by `guard` could not be recorded. */
  unrecorded: { readonly error: unknown };
}

type Listener<Event> = (event: Event) => unknown;

/** Listeners that cannot break each other, nor whoever emits: what one throws is handed to `onError`. */
export function createEmitter(onError: (error: unknown) => void) {
  const listeners = new Map<keyof GateEvents, Set<Listener<never>>>();
  return {
    on<Name extends keyof GateEvents>(name: Name, listener: Listener<GateEvents[Name]>): () => void {
      const known = listeners.get(name) ?? new Set();
      listeners.set(name, known.add(listener));
      return () => known.delete(listener);
    },
    emit<Name extends keyof GateEvents>(name: Name, event: GateEvents[Name]): void {
      for (const listener of listeners.get(name) ?? []) {
        try {
          Promise.resolve((listener as Listener<GateEvents[Name]>)(event)).catch(onError);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

export type Emitter = ReturnType<typeof createEmitter>;
