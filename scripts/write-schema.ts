// Writes surety.schema.json from the zod schema; `npm run check` and a test see to it that it is current.
import { writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { rulesJsonSchema } from '../src/domain/rules/parse-rules.ts';

const text = await format(JSON.stringify(rulesJsonSchema()), { parser: 'json', printWidth: 120 });
writeFileSync(new URL('../surety.schema.json', import.meta.url), text);
