import { createRoute, z } from '@hono/zod-openapi';
import { redactText } from '../domain/outcome/redact.ts';
import { pathOf, ruleInWords } from '../domain/rules/explain.ts';
import { InvalidRules, parseRules } from '../domain/rules/parse-rules.ts';
import { globally } from '../domain/rules/resolve.ts';
import type { RuleLevel } from '../domain/rules/resolve.ts';
import type { Rule, Rules } from '../domain/rules/rules.schema.ts';
import { readPublication } from '../postgres/read-publication.ts';
import { currentRules, publishAfter, publishRules } from '../postgres/rules.ts';
import type { Api, ApiParts } from './app.ts';
import { allow, decides } from './identity.ts';
import { HttpProblem, problem } from './problem.ts';
import { text } from './text.ts';
import { time, Time } from './tool-shapes.ts';

const RulesPage = z
  .object({
    version: z.number().int(),
    publishedAt: Time.nullable(),
    publishedBy: z.string().nullable(),
    comment: z.string(),
    unreadable: z.object({ version: z.number().int(), complaint: z.string() }).nullable(),
    rules: z.record(z.string(), z.any()).openapi({ description: 'complete, as surety.json would spell them' }),
    resolved: z
      .array(
        z.object({
          path: z.string(),
          level: z.enum(['tool', 'domain', 'server', 'default']),
          words: z.array(z.string()),
        }),
      )
      .openapi({ description: 'each rule in words, the most specific level first' }),
  })
  .openapi('RulesPage');
export type RulesPage = z.infer<typeof RulesPage>;

const MOST_COMMENT = 300;

/** What governs trust. */
export function rulesRoutes(app: Api, { pool }: Pick<ApiParts, 'pool'>): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/rules',
      summary: 'The rules in force, who published them and when',
      middleware: [allow('approver', 'operator')] as const,
      responses: {
        200: { description: 'the rules', content: { 'application/json': { schema: RulesPage } } },
      },
    }),
    async (c) => {
      const { version, rules, unreadable } = await currentRules(pool);
      const publication = await readPublication(pool, version);
      return c.json(
        {
          version,
          publishedAt: publication === undefined ? null : time(publication.publishedAt),
          publishedBy: publication?.publishedBy ?? null,
          comment: publication?.comment ?? '',
          unreadable: unreadable ?? null,
          rules: rules as RulesPage['rules'],
          resolved: resolvedOf(rules),
        },
        200,
      );
    },
  );
  app.openapi(
    createRoute({
      method: 'put',
      path: '/v1/rules',
      summary: 'Publish rules as a new version, for everyone who uses this ledger',
      middleware: [decides, allow('operator')] as const,
      request: {
        body: {
          content: {
            'application/json': {
              schema: z.strictObject({
                rules: z.record(z.string(), z.unknown()).openapi({ description: 'as surety.json holds them' }),
                comment: text(1000).default(''),
                expectedVersion: z.number().int().min(0).optional(),
              }),
            },
          },
          required: true,
        },
      },
      responses: {
        200: {
          description: 'in force',
          content: { 'application/json': { schema: z.object({ version: z.number().int() }) } },
        },
        409: problem('somebody has published meanwhile'),
      },
    }),
    async (c) => {
      const { rules: given, comment, expectedVersion } = c.req.valid('json');
      const rules = parsedOrRefused(given);
      const by = c.get('token').name;
      const said = redactText(comment, MOST_COMMENT);
      if (expectedVersion === undefined) return c.json({ version: await publishRules(pool, rules, by, said) }, 200);
      const answer = await publishAfter(pool, expectedVersion, rules, by, said);
      if ('published' in answer) return c.json({ version: answer.published }, 200);
      throw new HttpProblem(
        409,
        'Not possible',
        `Version ${answer.inForce} is in force, not ${expectedVersion}. Look at it first.`,
      );
    },
  );
}

function parsedOrRefused(given: unknown): Rules {
  try {
    return parseRules(given);
  } catch (error) {
    if (!(error instanceof InvalidRules)) throw error;
    const errors = error.complaints.map((complaint) => {
      const end = complaint.indexOf(': ');
      return { path: complaint.slice(0, end), message: complaint.slice(end + 2) };
    });
    throw new HttpProblem(400, 'Not understood', 'These are no valid rules; nothing was published. See errors.', {
      errors,
    });
  }
}

function resolvedOf(rules: Rules): RulesPage['resolved'] {
  const levels: readonly (readonly [RuleLevel, Readonly<Record<string, Rule>>])[] = [
    ['tool', rules.toolRules],
    ['domain', rules.domainRules],
    ['server', rules.serverRules],
  ];
  return [
    ...levels.flatMap(([level, byName]) =>
      Object.entries(byName).map(([pattern, rule]) => ({
        ...{ path: pathOf({ level, pattern }), level },
        words: ruleInWords(globally(rule, rules), level === 'server' ? 'server' : 'tool'),
      })),
    ),
    {
      ...{ path: pathOf({ level: 'default', pattern: null }), level: 'default' as const },
      words: ruleInWords(globally(rules.defaultRule, rules), 'tool'),
    },
  ];
}
