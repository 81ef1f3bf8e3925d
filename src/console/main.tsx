import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Session } from '../http/session.ts';
import { read, session } from './api.ts';
import { Approvals } from './approvals.tsx';
import { Frame } from './frame.tsx';
import { Grants } from './grants.tsx';
import { followEvents } from './live.ts';
import { Loading } from './parts.tsx';
import { route } from './route.ts';
import { Rules } from './rules.tsx';
import { SignIn } from './sign-in.tsx';
import { Tool } from './tool.tsx';
import { Tools } from './tools.tsx';
import { makeAllTextVisible } from './visible.ts';

const RETRY_MS = 3000;
/** Nobody has answered who this is. */
const isAway = signal(false);

function Console() {
  useEffect(findOut, []);
  if (session.value === undefined) return isAway.value ? <Away /> : <Loading />;
  return session.value.who === null ? <SignIn /> : <SignedIn />;
}

function findOut(): void {
  void read<Session>('/v1/session')
    .then((found) => {
      session.value = found;
    })
    .catch(() => {
      isAway.value = true;
      setTimeout(findOut, RETRY_MS);
    });
}

function Away() {
  return (
    <main class="sign-in">
      <h1>Surety</h1>
      <p class="notice bad" role="alert">
        The server does not answer. It is tried again by itself.
      </p>
    </main>
  );
}

function SignedIn() {
  useEffect(followEvents, []);
  return (
    <Frame>
      <Page />
    </Frame>
  );
}

function Page() {
  const { page, id } = route.value;
  switch (page) {
    case 'tools':
      return id === undefined ? <Tools /> : <Tool key={id} toolKey={id} />;
    case 'approvals':
      return <Approvals id={id} />;
    case 'grants':
      return <Grants />;
    case 'rules':
      return <Rules />;
  }
}

makeAllTextVisible();
const root = document.getElementById('console');
if (root !== null) render(<Console />, root);
