import { useState } from 'preact/hooks';
import { read } from './api.ts';
import { useLoaded } from './loaded.ts';
import type { Loaded } from './loaded.ts';

interface Page {
  readonly cursor: string | null;
}

export interface Pages<T> extends Loaded<readonly T[]> {
  readonly hasMore: boolean;
  readonly showMore: () => void;
}

/** A list that is read page by page, as far as somebody wants to see. */
export function usePages<T extends Page>(path: string, concerns: (what: string) => boolean): Pages<T> {
  const [wanted, setWanted] = useState({ path, pages: 1 });
  const pages = wanted.path === path ? wanted.pages : 1;
  const loaded = useLoaded(() => readPages<T>(path, pages), `${path} ${pages}`, concerns);
  // While the next page is on its way, those before it stay.
  const [kept, setKept] = useState<{ path: string; data: readonly T[] } | undefined>(undefined);
  if (loaded.data !== undefined && kept?.data !== loaded.data) setKept({ path, data: loaded.data });
  const data = loaded.data ?? (kept?.path === path ? kept.data : undefined);
  return {
    ...loaded,
    data,
    hasMore: data?.at(-1)?.cursor != null,
    showMore: () => {
      if (loaded.data !== undefined) setWanted({ path, pages: pages + 1 });
    },
  };
}

async function readPages<T extends Page>(path: string, pages: number): Promise<readonly T[]> {
  const found: T[] = [];
  for (let cursor = ''; found.length < pages;) {
    const page = await read<T>(`${path}${cursor}`);
    found.push(page);
    if (page.cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(page.cursor)}`;
  }
  return found;
}
