import { signal } from '@preact/signals';

const PAGES = ['tools', 'approvals', 'grants', 'rules'] as const;
export type PageName = (typeof PAGES)[number];

export interface Route {
  readonly page: PageName;
  /** Of one thing on that page. */
  readonly id: string | undefined;
}

export const route = signal<Route>(routeOf(location.hash));

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});

export function hrefOf(page: PageName, id?: string): string {
  return id === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(id)}`;
}

export function go(page: PageName, id?: string): void {
  location.hash = hrefOf(page, id);
  // The event comes later; whoever asks meanwhile where we are is told.
  route.value = { page, id };
}

/** Without leaving a step to go back to. */
export function replace(page: PageName, id?: string): void {
  history.replaceState(null, '', hrefOf(page, id));
  route.value = { page, id };
}

function routeOf(hash: string): Route {
  const [, name, encoded] = /^#\/(\w+)(?:\/(.+))?$/.exec(hash) ?? [];
  const page = PAGES.find((known) => known === name) ?? 'tools';
  return { page, id: encoded === undefined ? undefined : decoded(encoded) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
