import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { ApprovalsPage } from '../http/approvals.ts';
import type { Session } from '../http/session.ts';
import { read, session, write } from './api.ts';
import { focusContent } from './focus.ts';
import { notLiveSince } from './live.ts';
import { useLoaded } from './loaded.ts';
import { hrefOf, route } from './route.ts';
import type { PageName } from './route.ts';
import { chooseTheme, storedTheme } from './theme-choice.ts';
import type { Theme } from './theme-choice.ts';
import { clock } from './time.ts';
import { say, Toast } from './toast.tsx';

const TITLES: Readonly<Record<PageName, string>> = {
  tools: 'Tools',
  approvals: 'Approvals',
  grants: 'Grants',
  rules: 'Rules',
};

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const pending = useLoaded(
    async () => (await read<ApprovalsPage>('/v1/approvals?limit=1')).pending,
    'pending',
    (what) => what.startsWith('approval:'),
  ).data;
  document.title = `${pending === undefined || pending === 0 ? '' : `(${pending}) `}${TITLES[route.value.page]} · Surety`;
  return (
    <>
      <a class="skip" href="#content" onClick={skipTo}>
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#/tools">
          <img src="/console/icon.svg" alt="" width="22" height="22" /> Surety
        </a>
        <nav aria-label="Pages">
          {Object.entries(TITLES).map(([page, title]) => (
            <a key={page} href={hrefOf(page as PageName)} aria-current={route.value.page === page ? 'page' : undefined}>
              {title}
              {page === 'approvals' && pending !== undefined && pending > 0 ? (
                <span class="badge number">
                  {pending.toLocaleString()}
                  <span class="unseen"> open</span>
                </span>
              ) : null}
            </a>
          ))}
        </nav>
        <div class="aside">
          <Liveness />
          <ThemeChoice />
          <Who />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <Toast />
      <News pending={pending} />
    </>
  );
}

function skipTo(event: Event): void {
  event.preventDefault();
  focusContent();
}

const GATHER_MS = 1500;

/** For whoever does not see the number on top change. A storm is told once it has passed. */
function News({ pending }: { readonly pending: number | undefined }) {
  const told = useRef(pending);
  const [news, setNews] = useState('');
  useEffect(() => {
    const later = setTimeout(() => {
      if (pending !== undefined && told.current !== undefined && pending > told.current)
        setNews(`${pending === told.current + 1 ? 'A new question' : 'New questions'}: ${pending} open.`);
      told.current = pending;
    }, GATHER_MS);
    return () => clearTimeout(later);
  }, [pending]);
  return (
    <p class="unseen" role="status">
      {news}
    </p>
  );
}

function Liveness() {
  const since = notLiveSince.value;
  return (
    <span class={since === undefined ? 'live' : 'live not'} role="status">
      <span aria-hidden="true">{since === undefined ? '●' : '○'}</span>{' '}
      {since === undefined ? 'live' : `not live since ${clock(new Date(since).toISOString())}, reconnecting`}
    </span>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme());
  const choose = (next: Theme) => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <label class="theme">
      <span class="unseen">Theme</span>
      <select value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
        <option value="system">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

function Who() {
  const who = session.value?.who;
  if (who == null) return null;
  const signOut = async () => {
    try {
      session.value = await write<Session>('DELETE', '/v1/session', undefined);
    } catch {
      say('The server did not hear it: you are still signed in.');
    }
  };
  return (
    <span class="who">
      <span title={who.roles.join(', ')}>{who.name}</span>
      <button type="button" class="plain" onClick={() => void signOut()}>
        Sign out
      </button>
    </span>
  );
}

export function mayOrder(): boolean {
  const roles = session.value?.who?.roles ?? [];
  return roles.includes('operator') || roles.includes('admin');
}

export function mayDecide(): boolean {
  const roles = session.value?.who?.roles ?? [];
  return roles.includes('approver') || roles.includes('admin');
}
