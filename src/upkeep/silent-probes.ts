import type pg from 'pg';
import { askForBells, prepare, record } from '../postgres/record.ts';
import type { Names } from '../postgres/intern.ts';
import { outcomeId } from '../postgres/outcome-id.ts';
import { silentProbes } from '../postgres/probes.ts';

/**
 * A holder that died says nothing, and nothing is what a hanging tool says: it counts as a timeout. The row's id comes
 * from the probe's token, so that recording it twice is recording it once; recording also removes the probe.
 */
export async function recordSilentProbes(pool: pg.Pool, names: Names): Promise<number> {
  const probes = await silentProbes(pool);
  if (probes.length === 0) return 0;
  const nameId = await names.of(probes.flatMap(({ scope, agent }) => [scope ?? undefined, agent ?? undefined]));
  const at = Date.now();
  const flushed = await record(
    pool,
    prepare(
      probes.map(({ token, callId, subject, serverSubject, scope, agent, trustVersion }) => ({
        id: outcomeId(`silent probe ${token}`, 'probe', callId),
        subject,
        serverSubject,
        kind: 'unknown',
        at,
        trustVersion,
        scope: nameId(scope ?? undefined),
        agent: nameId(agent ?? undefined),
        session: null,
        probe: token,
        silentProbe: true,
        rings: true,
        canWait: false,
        onServer: serverSubject !== null,
        detail: { message: 'the holder of the probe never answered', callId },
      })),
    ),
    { sentAt: at, maxLatenessMs: 0, rulesVersion: null },
  );
  await askForBells(pool, flushed.bells);
  return probes.length;
}
