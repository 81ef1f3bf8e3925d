import { useState } from 'preact/hooks';
import type { Session } from '../http/session.ts';
import { ApiProblem, signedIn, signedOutBecause, write } from './api.ts';

/** A token for a cookie. The token is not kept anywhere by the page. */
export function SignIn() {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem('');
    try {
      signedIn(await write<Session>('POST', '/v1/session', { token: token.trim() }));
      signedOutBecause.value = '';
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <img src="/console/icon.svg" alt="" width="44" height="44" />
      <h1>Surety</h1>
      <p class="quiet">May this tool be trusted right now?</p>
      <form onSubmit={(event) => void submit(event)}>
        {signedOutBecause.value === '' ? null : (
          <p class="notice" role="status">
            {signedOutBecause.value}
          </p>
        )}
        <label for="token">Your token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          autofocus
          value={token}
          aria-describedby="token-help"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        {problem === '' ? null : (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Signing in …' : 'Sign in'}
        </button>
        <p id="token-help" class="quiet small">
          <code>surety up</code> says which file has the first one. For somebody else:{' '}
          <code>surety token create ann --role approver</code>
        </p>
      </form>
    </main>
  );
}
