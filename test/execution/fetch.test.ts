import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, toolError } from '../../src/domain/execution/errors.ts';
import { fetchPage } from '../../src/execution/fetch.ts';
import { toText } from '../../src/execution/markdown.ts';
import { OutboundFailed, OutboundRefused } from '../../src/execution/outbound.ts';
import { fetchTool } from '../../src/execution/tools/fetch.ts';
import { listen } from '../support/receiver.ts';
import type { Receiver } from '../support/receiver.ts';
import { runCli, jsonOf } from '../support/run-cli.ts';

let site: Receiver;

const html = (response: ServerResponse, body: string | Buffer, type = 'text/html; charset=utf-8') =>
  response.writeHead(200, { 'content-type': type }).end(body);
const redirect = (response: ServerResponse, location: string) => response.writeHead(302, { location }).end();

const ARTICLE = `<!doctype html><html><head><title>Ignored</title><script>alert(1)</script><style>p{}</style></head>
<body><h1>Hi <em>there</em></h1><p>Text with a <a href="/rel?x=1">link</a>, <a href="javascript:alert(1)">a trap</a>
and <code>code</code>.</p><img src="i.png" alt="a picture"><ul><li>one<ul><li>two</li></ul></li></ul>
<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
<pre><code class="language-js">let a = 1;</code></pre><svg><text>drawn</text></svg></body></html>`;

const PAGES: Record<string, (response: ServerResponse) => void> = {
  '/article': (response) => html(response, ARTICLE),
  '/malformed': (response) => html(response, '<p>one<b>two<i>three</b>four</i><table><td>x<<<a href=">lost</p>&bogus;'),
  '/deep': (response) => html(response, `${'<div>'.repeat(100_000)}buried &amp; found`),
  '/moved': (response) => redirect(response, '/article'),
  '/inward': (response) => redirect(response, 'http://169.254.169.254/latest/meta-data'),
  '/by-name': (response) => redirect(response, 'http://inside.example/'),
  '/to-file': (response) => redirect(response, 'file:///etc/passwd'),
  '/to-nothing': (response) => redirect(response, 'http://['),
  '/loop': (response) => redirect(response, '/loop'),
  '/huge': (response) => {
    const block = Buffer.alloc(65_536, 'word ');
    response.writeHead(200, { 'content-type': 'text/plain' });
    const more = () => {
      while (!response.destroyed && response.write(block));
    };
    response.on('drain', more);
    more();
  },
  '/slow': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const drip = setInterval(() => response.write('<p>'), 20);
    response.on('close', () => clearInterval(drip));
  },
  '/never': () => undefined,
  '/bomb': (response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
      .end(gzipSync(Buffer.alloc(300_000_000, 'a'))),
  '/zstd': (response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
  '/corrupt': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip at all'),
  '/json': (response) => html(response, '{"a": 1}', 'application/json'),
  '/problem': (response) =>
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"title":"none"}'),
  '/image': (response) => html(response, Buffer.from([0x89, 0x50, 0x4e, 0x47]), 'image/png'),
  '/lying': (response) => html(response, Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0]), 'text/plain'),
  '/untyped': (response) => response.end('<html><body><h2>Untyped</h2>'),
  '/latin': (response) => html(response, Buffer.from('<p>caf\xe9', 'latin1'), 'text/html; charset=iso-8859-1'),
  '/meta': (response) =>
    html(
      response,
      Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]),
      'text/html',
    ),
  '/utf16': (response) => html(response, Buffer.from('\ufeff<p>wide', 'utf16le'), 'text/html'),
  '/unknown': (response) => html(response, 'plain', 'text/plain; charset=klingon'),
};

beforeAll(async () => {
  site = await listen((request, response) => PAGES[request.url ?? '']?.(response));
});
afterAll(() => site.close());

const get = (path: string, more = {}) => fetchPage(`${site.url}${path}`, { allowPrivate: true, ...more });

describe('a page', () => {
  test('becomes Markdown, with links that lead somewhere and without what runs', async () => {
    const fetched = await get('/moved');
    expect(fetched).toMatchObject({
      ...{ url: `${site.url}/article`, status: 200, format: 'markdown', truncated: false },
      redirects: [`${site.url}/moved`],
    });
    const { content } = fetched;
    expect(content).toContain('# Hi _there_');
    expect(content).toContain(`[link](${site.url}/rel?x=1)`);
    expect(content).toContain(`![a picture](${site.url}/i.png)`);
    expect(content).toMatch(/\| a +\| b +\|/);
    expect(content).toContain('```js\nlet a = 1;\n```');
    expect(content).not.toMatch(/javascript|alert|p\{\}|drawn|Ignored/);
  });

  test('that is malformed is read all the same', async () => {
    const { format, content } = await get('/malformed');
    expect(format).toBe('markdown');
    expect(content).toMatch(/one\*\*two/);
    expect(content).toContain('four');
  });

  test('that would keep a converter busy for minutes is given as text, in time', async () => {
    const started = Date.now();
    const { format, content } = await get('/deep', { timeoutMs: 3000 });
    expect({ format, content }).toEqual({ format: 'text', content: 'buried & found' });
    expect(Date.now() - started).toBeLessThan(6000);
  });

  test.each([
    ['/latin', 'café'],
    ['/meta', '日本'],
    ['/utf16', 'wide'],
    ['/unknown', 'plain'],
  ])('%s is decoded as it says', async (path, text) => {
    expect((await get(path)).content).toBe(text);
  });

  test('without a type is looked at', async () => {
    expect(await get('/untyped')).toMatchObject({ format: 'markdown', content: '## Untyped' });
  });
});

describe('what is no page', () => {
  test('JSON and text are passed on, errors too', async () => {
    expect(await get('/json')).toMatchObject({ format: 'text', content: '{"a": 1}' });
    expect(await get('/problem')).toMatchObject({ status: 404, format: 'text', content: '{"title":"none"}' });
  });

  test('binary is described', async () => {
    expect(await get('/image')).toMatchObject({ format: 'binary', content: 'image/png, 4 bytes: no text' });
    expect(await get('/lying')).toMatchObject({ format: 'binary', content: 'text/plain, 7 bytes: no text' });
  });
});

describe('bounds', () => {
  test('a huge body and one that unpacks to 300 MB are cut', async () => {
    for (const path of ['/huge', '/bomb']) {
      const before = process.memoryUsage().rss;
      const { content, truncated } = await get(path, { mostBytes: 100_000 });
      expect(content).toHaveLength(100_000);
      expect(truncated).toBe(true);
      if (path === '/huge') expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    }
  });

  test('what is handed back is cut, and never inside a character', async () => {
    expect(await get('/article', { mostCharacters: 10 })).toMatchObject({ content: '# Hi _ther', truncated: true });
  });

  test('a slow body ends in time', async () => {
    const started = Date.now();
    await expect(get('/slow', { timeoutMs: 400 })).rejects.toThrow(/did not finish within/);
    expect(Date.now() - started).toBeLessThan(3000);
  });

  test('redirects end', async () => {
    await expect(get('/loop')).rejects.toThrow('redirects more than 5 times');
    await expect(get('/moved', { mostRedirects: 0 })).rejects.toThrow(OutboundFailed);
    await expect(get('/to-nothing')).rejects.toThrow('no URL');
  });

  test.each([
    ['/slow', 'timeout', 'reachability'],
    ['/never', 'timeout', 'reachability'],
    ['/loop', 'permanent_failure'],
    ['/to-nothing', 'permanent_failure'],
    ['/zstd', 'permanent_failure'],
    ['/corrupt', 'permanent_failure'],
    ['/inward', 'policy_blocked'],
  ] as readonly (readonly [string, string, string?])[])(
    'what became of %s is known as %s',
    async (path, category, weighs) => {
      const tool = fetchTool({ allowPrivate: true, timeoutMs: 400 });
      const confinement = { writable: [], hidden: [], readOnly: [], network: true };
      const sandbox = { kind: 'none', because: 'it runs nothing' } as const;
      const context = { stopped: new AbortController().signal, sandbox, confinement };
      const ended = await tool.run({ url: `${site.url}${path}` }, context).then(
        ({ failure }) => failure && toolError(failure.category, failure.message),
        (error: unknown) => errorOf({ tool: 'fetch', error }),
      );
      expect(ended).toMatchObject({ category, ...(weighs === undefined ? {} : { weighs }) });
    },
  );

  test('text is taken out of anything in a time that grows with its length', () => {
    for (const part of ['<', '<!--', '<script', '<p', '&', '\n ', '<script>']) {
      const started = Date.now();
      toText(part.repeat(1_000_000));
      expect(Date.now() - started, part).toBeLessThan(3000);
    }
  });
});

describe('a redirect', () => {
  test('is judged like the first target: by number, by name and by scheme', async () => {
    await expect(fetchPage(`${site.url}/article`)).rejects.toThrow(OutboundRefused);
    // The site itself is trusted here, although it is on loopback; where it sends us is not.
    await expect(get('/inward')).rejects.toThrow(
      /inward redirects to http:\/\/169\.254\.169\.254.*: 169\.254\.169\.254 is a link-local address/,
    );
    const resolve = () => Promise.resolve([{ address: '10.0.0.1', family: 4 }]);
    await expect(get('/by-name', { resolve })).rejects.toThrow('inside.example leads to 10.0.0.1');
    await expect(get('/to-file')).rejects.toThrow(/redirects to file:\/\/\/etc\/passwd: file: is neither/);
    await expect(get('/to-nothing')).rejects.toThrow('no URL');
  });
});

describe('surety fetch', () => {
  test('prints Markdown, or JSON, and refuses with exit code 3', async () => {
    const printed = await runCli(['fetch', `${site.url}/article`, '--allow-private']);
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining('# Hi _there_') as string });
    expect(await jsonOf(['fetch', `${site.url}/problem`, '--allow-private'])).toMatchObject({ status: 404 });
    expect(await runCli(['fetch', `${site.url}/article`])).toMatchObject({
      ...{
        code: 3,
        stdout: '',
        stderr: expect.stringContaining('refused (policy): 127.0.0.1 is a loopback address') as string,
      },
    });
    // What a name leads to comes to light later, and is refused all the same.
    expect(await runCli(['fetch', site.url.replace('127.0.0.1', 'localhost')])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/refused \(policy\): localhost leads to .* is a loopback address/) as string,
    });
    expect(await runCli(['fetch', 'http://0.0.0.0/'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('0.0.0.0 is an unspecified address') as string,
    });
    expect(await runCli(['fetch', 'http://127.0.0.1:1/', '--allow-private'])).toMatchObject({ code: 1 });
    expect(await runCli(['fetch', 'example.com'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'refused (claim): url: example.com is no URL: one begins with https://',
      ) as string,
    });
  });
});
