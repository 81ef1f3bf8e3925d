import { loadConfig } from '../config.ts';
import type { Config } from '../config.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { locateLedger } from '../ledger-location.ts';
import { pauseUnless } from '../pause.ts';
import { createPool } from '../postgres/pool.ts';
import { Problem } from '../problem.ts';
import { refuseNewerSchema } from '../postgres/migrate.ts';
import { findRules } from '../rules-file.ts';
import { announceChanges } from './announce.ts';
import type { Backend } from './backend.ts';
import { createEmitter } from './events.ts';
import { keepFresh } from './freshness.ts';
import { Gate } from './gate.ts';
import { createLedgerBackend } from './ledger-backend.ts';
import { createLedgerSource } from './ledger-source.ts';
import { remotePlace } from './remote/place.ts';
import type { Source } from './source.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { View } from './view.ts';

export interface ConnectOptions {
  /** Where the ledger is; otherwise SURETY_DATABASE_URL, the stack that `surety up` runs in SURETY_HOME, or DATABASE_URL. */
  readonly databaseUrl?: string;
  /** A server to speak HTTP with instead, like http://127.0.0.1:7400; otherwise SURETY_URL. */
  readonly url?: string;
  /** What to show that server; otherwise SURETY_TOKEN. An agent's name is its token's. */
  readonly token?: string;
  /** Who asks and reports, unless a call says otherwise. */
  readonly agent?: string;
  readonly session?: string;
  /** Reports that may wait for the ledger. */
  readonly bufferLimit?: number;
  /** How long `guard` waits for a person to decide. Without it as long as the question is open; 0: not at all. */
  readonly approvalWaitMs?: number;
  /** How long to wait for the first snapshot. Without one the gate answers `ask` until it has it. */
  readonly connectWithinMs?: number;
  /** What a listener throws. By default a process warning. */
  readonly onListenerError?: (error: unknown) => void;
}

/** A gate to the ledger. With SURETY_PERSIST=false trust is kept in this process; with SURETY_ENABLED=false all is allowed. */
export async function connect(options: ConnectOptions = {}): Promise<Gate> {
  const config = loadConfig();
  const rules = withOverrides(await findRules(), config);
  const view = new View(rules);
  const emitter = createEmitter(
    options.onListenerError ??
      ((error) => process.emitWarning(error instanceof Error ? error : String(error), 'SuretyListener')),
  );
  const identity: { agent?: string; session?: string } = {
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.session === undefined ? {} : { session: options.session }),
  };
  const shared = {
    view,
    emitter,
    identity,
    enabled: config.enabled !== false,
    bufferLimit: options.bufferLimit ?? 10_000,
    approvalWaitMs: options.approvalWaitMs ?? Infinity,
  };
  if (config.enabled === false)
    return new Gate({ ...shared, backend: disabledBackend(view), close: () => Promise.resolve() });
  if (config.persist === false || (config.persist === undefined && !rules.persistAcrossSessions)) {
    view.setSituation('fresh');
    const backend = createMemoryBackend(view, (standing) => {
      const before = view.take(standing);
      if (before !== null) announceChanges(emitter, view, before, standing);
    });
    return new Gate({ ...shared, backend, close: () => backend.close() });
  }
  const withinMs = options.connectWithinMs ?? 3000;
  const { source, backend, refuseToStart, close } = await placeOf(options, config, view, withinMs);
  const freshness = keepFresh({
    source,
    view,
    onChange: (before, after) => announceChanges(emitter, view, before, after),
    onSituation: (because) => emitter.emit('situation', { situation: view.situation, because }),
    onAgent: (agent) => {
      identity.agent = agent;
      view.tokenAgent = agent;
    },
  });
  const leave = async () => {
    await freshness.stop();
    await close();
  };
  await pauseUnless(freshness.ready, withinMs);
  await refuseToStart().catch(async (error: unknown) => {
    // Anything else is the ledger going away again, which a gate outlives.
    if (!(error instanceof Problem)) return;
    await leave();
    throw error;
  });
  return new Gate({ ...shared, backend, close: leave });
}

export interface Place {
  readonly source: Source;
  readonly backend: Backend;
  /** Throws a Problem where no waiting would help. */
  readonly refuseToStart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The ledger itself, or a server that stands before it. */
async function placeOf(options: ConnectOptions, config: Config, view: View, withinMs: number): Promise<Place> {
  const url = options.url ?? (options.databaseUrl === undefined ? config.remote.url : undefined);
  if (url !== undefined) return remotePlace(url, options.token ?? config.remote.token, withinMs);
  const databaseUrl = options.databaseUrl ?? (await locateLedger(config));
  const pool = createPool(databaseUrl, { name: 'surety gate' });
  return {
    source: createLedgerSource(pool, databaseUrl),
    backend: createLedgerBackend(pool, view),
    refuseToStart: async () => {
      if (view.situation === 'fresh') await refuseNewerSchema(pool);
    },
    close: () => pool.end(),
  };
}

/** SURETY_THRESHOLD and SURETY_WINDOW speak for whoever runs the process; published rules replace them. */
function withOverrides(rules: Rules, { threshold, windowSeconds }: Config): Rules {
  const overrides = {
    ...(threshold === undefined ? {} : { countThreshold: threshold }),
    ...(windowSeconds === undefined ? {} : { windowSeconds }),
  };
  return { ...rules, defaultRule: { ...rules.defaultRule, ...overrides } };
}

/** SURETY_ENABLED=false: every call is allowed and nothing is kept. */
function disabledBackend(view: View): Backend {
  view.setSituation('fresh');
  const everythingAllowed = { read: 'allow', write: 'allow', destructive: 'allow' } as const;
  const { rules } = view.settings;
  const situations = {
    unknown: everythingAllowed,
    stale: everythingAllowed,
    empty: everythingAllowed,
    blocked: everythingAllowed,
  };
  view.setSettings({ ...view.settings, rules: { ...rules, blocklist: [], situations } });
  return {
    prepare: () => Promise.resolve(() => Promise.resolve(new Map())),
    judgesAtOnce: true,
    isKnown: () => Promise.resolve(true),
    acquireProbe: () => Promise.resolve(undefined),
    renewProbe: () => Promise.resolve(false),
    releaseProbe: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
