// Writes openapi.json from the routes; a test sees to it that it is current.
import { writeFileSync } from 'node:fs';
import { createApi, documentOf } from '../src/http/app.ts';

const api = createApi({
  pool: undefined as never,
  ledger: undefined as never,
  gate: undefined as never,
  limits: undefined as never,
  failedAttempts: undefined as never,
  health: undefined as never,
  announcements: undefined as never,
});
writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(documentOf(api), null, 2)}\n`);
