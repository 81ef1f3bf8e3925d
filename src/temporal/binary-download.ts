import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import * as z from 'zod';

/** The release that has been tried: server 1.32.0, UI 2.54.1. */
export const TEMPORAL_VERSION = '1.9.1';

export const DOWNLOAD_SITE = 'https://temporal.download';

const ANSWER_WITHIN_MS = 5_000;
const DOWNLOAD_WITHIN_MS = 180_000;

const DownloadInfo = z.object({ archiveUrl: z.url(), fileToExtract: z.string() });

/**
 * What the SDK does for `TestWorkflowEnvironment.createLocal`: ask Temporal's site where the archive is, fetch it, take
 * the program out. Done here because the SDK can only do it by starting a server, through its worker.
 */
export async function downloadTemporal(directory: string, site: string): Promise<string> {
  const platform = process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const query = new URLSearchParams({ arch, platform, format: 'tar.gz' });
  const answer = await get(`${site}/cli/v${TEMPORAL_VERSION}?${query.toString()}`, ANSWER_WITHIN_MS);
  const { archiveUrl, fileToExtract } = DownloadInfo.parse(await answer.json());
  const archive = join(directory, 'temporal.tar.gz');
  const { body } = await get(archiveUrl, DOWNLOAD_WITHIN_MS);
  if (body === null) throw new Error(`${archiveUrl} is empty`);
  await pipeline(Readable.fromWeb(body), createWriteStream(archive));
  await promisify(execFile)('tar', ['-xzf', archive, '-C', directory, fileToExtract]);
  return join(directory, fileToExtract);
}

async function get(url: string, withinMs: number): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(withinMs) });
  } catch (error) {
    // "fetch failed" says nothing; its cause does.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`${new URL(url).host}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause: error,
    });
  }
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response;
}
