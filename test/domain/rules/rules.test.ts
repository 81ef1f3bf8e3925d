import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ruleInWords } from '../../../src/domain/rules/explain.ts';
import { InvalidRules, parseRules, rulesJsonSchema } from '../../../src/domain/rules/parse-rules.ts';
import { ruleForScope, viewForServer, viewForTool, withDeclaredRisk } from '../../../src/domain/rules/resolve.ts';
import { DEFAULT_RULE, PRESETS } from '../../../src/domain/rules/rule.ts';

describe('a rules file', () => {
  test('an empty one is the defaults', () => {
    expect(parseRules({}).defaultRule).toEqual(DEFAULT_RULE);
  });

  test('what was parsed parses to itself: published versions are stored so', () => {
    const rules = parseRules({
      defaultRule: { rateThreshold: 0.4 },
      toolRules: { bash: { preset: 'lenient', blockAfter: null } },
    });
    expect(parseRules(JSON.parse(JSON.stringify(rules)))).toEqual(rules);
  });

  test('naming one threshold turns the unnamed count off; naming both keeps both', () => {
    expect(parseRules({ defaultRule: { consecutiveThreshold: 2 } }).defaultRule.countThreshold).toBeNull();
    expect(parseRules({ defaultRule: { countThreshold: 4, rateThreshold: 0.5 } }).defaultRule).toMatchObject({
      countThreshold: 4,
      rateThreshold: 0.5,
    });
  });

  test.each(Object.entries(PRESETS))('preset %s', (preset, rule) => {
    expect(parseRules({ toolRules: { x: { preset } } }).toolRules['x']).toEqual(rule);
  });

  test.each<[unknown, string]>([
    [{ defaultRule: { countThreshold: 0 } }, 'defaultRule.countThreshold: Too small: expected number to be >0, got 0'],
    [{ toolRules: { bash: { severityFilter: ['fatal'] } } }, 'toolRules.bash.severityFilter.0: '],
    [{ toolRules: { bash: { windowSecs: 5 } } }, 'toolRules.bash: Unrecognized key: "windowSecs"'],
    [{ defaultRules: {} }, '(file): Unrecognized key: "defaultRules"'],
    [{ defaultRule: { preset: 'strict' } }, 'defaultRule.preset: '],
    [[], '(file): '],
    ['nonsense', '(file): '],
    [null, '(file): '],
    [{ version: 2 }, 'version: '],
  ])('%j is refused with the path of the offending value', (json, complaint) => {
    expect(() => parseRules(json)).toThrow(InvalidRules);
    try {
      parseRules(json);
    } catch (error) {
      expect((error as InvalidRules).complaints.join('\n')).toContain(complaint);
    }
  });

  test('the first spelling, in snake case and with plugins, is migrated forward', () => {
    const first = {
      default_rule: { count_threshold: 4, notify_user: false },
      plugin_rules: { my_server: { window_seconds: 60 } },
      tool_rules: { read_file: { success_count_to_recover: 9 } },
      enable_auto_recovery: false,
    };
    const rules = parseRules(first);
    expect(rules.defaultRule).toMatchObject({ countThreshold: 4, notify: false });
    expect(rules.serverRules['my_server']?.windowSeconds).toBe(60);
    expect(rules.toolRules['read_file']?.successCountToRecover).toBe(9);
    expect(rules.enableAutoRecovery).toBe(false);
    const mixed = parseRules({ defaultRule: { count_threshold: 1 }, serverRules: { s_1: { notifyUser: false } } });
    expect(mixed.defaultRule.countThreshold).toBe(1);
    expect(mixed.serverRules['s_1']?.notify).toBe(false);
  });

  test.each(['API.example.com:8443', 'api.example.com.', 'https://api.example.com/v1'])(
    'a domain written %s is the host that calls go to',
    (domain) => {
      const rules = parseRules({ domainRules: { [domain]: { countThreshold: 9 } } });
      const view = viewForTool(rules, 1, 'local', 'http_request');
      expect(ruleForScope(view, 'host:api.example.com').rule.countThreshold).toBe(9);
    },
  );

  test('the committed JSON Schema is the one the code generates, and agrees with it', () => {
    const committed = JSON.parse(
      readFileSync(new URL('../../../surety.schema.json', import.meta.url), 'utf8'),
    ) as object;
    expect(committed).toEqual(JSON.parse(JSON.stringify(rulesJsonSchema())));
    const validate = new Ajv2020({ strict: false }).compile(committed);
    expect(validate({ $schema: './surety.schema.json', toolRules: { bash: { preset: 'lenient' } } })).toBe(true);
    expect(validate({ toolRules: { bash: { countThreshold: 0 } } })).toBe(false);
    expect(validate({ toolRules: { bash: { contThreshold: 1 } } })).toBe(false);
  });
});

describe('which rule governs', () => {
  const rules = parseRules({
    defaultRule: { countThreshold: 1 },
    serverRules: { svc: { countThreshold: 2 }, 'git*': { countThreshold: 3 } },
    domainRules: { 'api.example.com': { countThreshold: 4 }, '*.example.com': { countThreshold: 5 } },
    toolRules: {
      bash: { countThreshold: 6 },
      'svc/del*': { countThreshold: 7 },
      'svc/delete': { countThreshold: 8 },
      'd*': { countThreshold: 9 },
    },
  });
  test.each<[string, string, string, number, string]>([
    ['local', 'other', '', 1, 'default'],
    ['svc', 'other', '', 2, 'server'],
    ['github', 'other', '', 3, 'server'],
    ['svc', 'other', 'host:api.example.com', 4, 'domain'],
    ['svc', 'other', 'host:www.example.com', 5, 'domain'],
    ['svc', 'other', 'dir:/etc', 2, 'server'],
    ['svc', 'bash', 'host:api.example.com', 6, 'tool'],
    ['svc', 'deleteAll', '', 7, 'tool'],
    ['svc', 'delete', '', 8, 'tool'],
    ['local', 'delete', '', 9, 'tool'],
  ])('%s/%s %s → %i by %s', (server, name, scope, countThreshold, level) => {
    expect(ruleForScope(viewForTool(rules, 1, server, name), scope)).toMatchObject({ level, rule: { countThreshold } });
  });

  test('a server is governed by its own rule or the default', () => {
    expect(viewForServer(rules, 1, 'svc').own).toMatchObject({ level: 'server', pattern: 'svc' });
    expect(viewForServer(rules, 1, 'local').own.level).toBe('default');
  });

  test('a rule is taken whole: what it leaves open is built in, not inherited', () => {
    const { own } = viewForTool(
      parseRules({ defaultRule: { windowSeconds: 5 }, toolRules: { x: {} } }),
      1,
      'local',
      'x',
    );
    expect(own.rule.windowSeconds).toBe(3600);
  });

  test('the switches for all rules only ever switch off', () => {
    const off = parseRules({ enforce: false, enableAutoRecovery: false, toolRules: { x: { enforce: true } } });
    expect(viewForTool(off, 1, 'local', 'x').own.rule).toMatchObject({ enforce: false, autoRecovery: false });
  });

  test('names of the prototype are names', () => {
    expect(viewForTool(rules, 1, 'constructor', '__proto__').own.level).toBe('default');
  });
});

describe('a rule in words', () => {
  test('says who is asked, for how long, and what it takes', () => {
    const approval = {
      approvers: [['ann'], ['bob', 'carol'], ['dan']],
      expiresAfterSeconds: 7200,
      remindAt: [0.5],
      denialHoldsSeconds: 0,
      twoForSecurity: true,
      selfApproval: true,
      unverified: true,
    };
    const words = ruleInWords(parseRules({ defaultRule: { approval } }).defaultRule, 'tool');
    expect(words.slice(-5)).toEqual([
      'Where it asks, ann decides, after 1 h bob or carol, too, after 2 h dan, too.',
      'A question expires after 2 h, with a reminder after 50 % of that time.',
      'Two people must agree where a security concern is held against the call.',
      'Whoever asked may decide, too.',
      'A bare Temporal signal decides, too, whoever sent it.',
    ]);
    for (const kind of ['tool', 'server'] as const) {
      expect(ruleInWords(DEFAULT_RULE, kind).slice(-3)).toEqual([
        'Where it asks, whoever may approve decides.',
        'A question expires after 1 d, with a reminder after 50 % and 90 % of that time.',
        'A denial answers the same question for 1 h.',
      ]);
    }
  });

  test('counts one as one', () => {
    const one = { countThreshold: 1, consecutiveThreshold: 1, blockAfter: 1, successCountToRecover: 1 };
    const words = ruleInWords(parseRules({ defaultRule: one }).defaultRule, 'tool').join(' ');
    expect(words).toContain('1 failure in 1 h, or 1 failure in a row.');
    expect(words).toContain('1 success restores trust. 1 more failure while escalated blocks it.');
  });
});

test.each([
  [{}, 'read', 'read'],
  [{}, 'destructive', 'destructive'],
  [{ toolRules: { x: { risk: 'read' } } }, 'destructive', 'destructive'],
  [{ toolRules: { x: { risk: 'destructive' } } }, 'read', 'destructive'],
  [{ toolRules: { x: { countThreshold: 9 } } }, 'read', 'write'],
] as const)('by %j a tool that calls itself %s is %s', (rules, declared, risk) => {
  const view = viewForTool(parseRules(rules), 1, 'local', 'x');
  expect(withDeclaredRisk(view, declared).own.rule.risk).toBe(risk);
});
