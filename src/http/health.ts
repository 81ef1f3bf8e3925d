import { createRoute, z } from '@hono/zod-openapi';
import type { Api, ApiParts } from './app.ts';

const PartHealth = z.enum(['up', 'down', 'unknown']);
/** Unknown: whoever could tell does not answer. */
export type PartHealth = z.infer<typeof PartHealth>;
/** Asks each part whether it is there. */
export type Health = () => Promise<Readonly<Record<string, PartHealth>>>;

const Parts = z
  .record(z.string(), PartHealth)
  .openapi({ description: 'unknown: whoever could tell does not answer within two seconds' });

export function healthRoutes(app: Api, { health }: Pick<ApiParts, 'health'>): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/healthz',
      summary: 'Whether this process lives',
      security: [],
      responses: {
        200: { description: 'it does', content: { 'application/json': { schema: z.object({ ok: z.literal(true) }) } } },
      },
    }),
    (c) => c.json({ ok: true as const }, 200),
  );
  const body = { content: { 'application/json': { schema: z.object({ ready: z.boolean(), parts: Parts }) } } };
  app.openapi(
    createRoute({
      method: 'get',
      path: '/readyz',
      summary: 'Whether everything it needs is there, and which part is not',
      security: [],
      responses: {
        200: { description: 'all is there', ...body },
        503: { description: 'something is down, or cannot be told', ...body },
      },
    }),
    async (c) => {
      const parts = await health();
      const ready = Object.values(parts).every((state) => state === 'up');
      return c.json({ ready, parts }, ready ? 200 : 503);
    },
  );
}
