import { useMemo, useState } from 'preact/hooks';
import { coverage, matchesPattern } from '../domain/approval/grant.ts';
import type { GrantTerms } from '../domain/approval/grant.ts';
import { hasMask } from '../domain/approval/loose-mask.ts';
import { escapeGlob } from '../domain/key/glob.ts';
import { visible } from '../domain/outcome/visible.ts';
import { partName } from '../domain/trust/part-view.ts';
import type { Approval } from '../http/shapes.ts';
import { serverNow } from './api.ts';
import { whenOf } from './time.ts';
import { nameOfTool } from './words.ts';

type Kind = GrantTerms['kind'];
type Calls = NonNullable<GrantTerms['covers']> | 'pattern';

export interface GrantChoice {
  readonly kind: Kind;
  readonly setKind: (kind: Kind) => void;
  readonly calls: Calls;
  readonly setCalls: (calls: Calls) => void;
  readonly hours: number;
  readonly setHours: (hours: number) => void;
  /** By argument, what it must look like; empty where it may be anything. */
  readonly globs: Readonly<Record<string, string>>;
  readonly setGlob: (name: string, glob: string) => void;
  /** Why it cannot be given so; empty where it can. */
  readonly complaint: string;
  /** What is given, in words. */
  readonly words: string;
  /** As the API takes it. */
  readonly grant: object;
}

/** The narrowest is chosen until somebody chooses otherwise: this call, and then these very arguments. */
export function useGrantChoice(approval: Approval): GrantChoice {
  const [kind, setKind] = useState<Kind>('once');
  const [calls, setCalls] = useState<Calls>('arguments');
  const [hours, setHours] = useState(8);
  const [globs, setGlobs] = useState(() => asAsked(approval.arguments));
  // Said once, and not anew with every second that passes: it is read aloud.
  const until = useMemo(() => serverNow() + hours * 3_600_000, [kind, hours]);
  const pattern = Object.fromEntries(Object.entries(globs).filter(([, glob]) => glob !== ''));
  const covered = kind === 'once' ? {} : calls === 'pattern' ? { pattern } : { covers: calls };
  const terms = { kind, ...(kind === 'until' ? { until } : {}), ...covered };
  const free = calls === 'pattern' && kind !== 'once' ? freeNames(approval.arguments, pattern) : [];
  return {
    ...{ kind, setKind, calls, setCalls, hours, setHours, globs },
    setGlob: (name, glob) => setGlobs({ ...globs, [name]: glob }),
    complaint: 'pattern' in covered ? complaintOf(pattern, approval.arguments) : '',
    words:
      coverage(terms, nameOfTool(approval), approval.scope, whenOf) +
      (free.length === 0 ? '' : `, whatever ${free.join(', ')} may be`),
    grant: { kind, ...(kind === 'until' ? { seconds: hours * 3600 } : {}), ...covered },
  };
}

export function ChooseGrant({
  approval,
  choice,
  isEdit,
}: {
  approval: Approval;
  choice: GrantChoice;
  isEdit: boolean;
}) {
  const { kind, setKind, calls, setCalls, hours, setHours } = choice;
  const { session, scope } = approval;
  const cannotMatch = isEdit || Object.keys(choice.globs).length === 0;
  return (
    <>
      <Choice
        title="For how long"
        value={kind}
        choose={setKind}
        options={[
          ['once', 'this call only', false],
          ['session', 'the session', session === null],
          ['until', 'until a time', false],
          ['always', 'always', false],
        ]}
      />
      {kind === 'until' ? (
        <label>
          For
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            <option value={1}>1 hour</option>
            <option value={8}>8 hours</option>
            <option value={24}>1 day</option>
            <option value={168}>7 days</option>
          </select>
        </label>
      ) : null}
      {kind === 'once' ? null : (
        <Choice
          title="For which calls"
          value={calls}
          choose={setCalls}
          options={[
            ['arguments', 'the same arguments', false],
            ['pattern', 'arguments that match', cannotMatch],
            ['scope', scope === null ? 'the same scope' : partName(scope), scope === null],
            ['tool', 'any call of the tool', false],
          ]}
        />
      )}
      {kind !== 'once' && calls === 'pattern' ? <Globs choice={choice} /> : null}
    </>
  );
}

function Globs({ choice: { globs, setGlob, complaint } }: { readonly choice: GrantChoice }) {
  return (
    <fieldset class="globs" aria-describedby="globs-help">
      <legend>What they must look like</legend>
      <p id="globs-help" class="quiet small">
        <code>*</code> stands for anything, <code>?</code> for one character; <code>\*</code> and <code>\?</code> for
        themselves. Empty: it may be anything.
      </p>
      {Object.entries(globs).map(([name, glob]) => (
        <label key={name}>
          {name}
          <input
            class="code"
            spellcheck={false}
            autocomplete="off"
            maxLength={500}
            value={glob}
            onInput={(event) => setGlob(name, event.currentTarget.value)}
          />
        </label>
      ))}
      <p class={complaint === '' ? 'unseen' : 'notice bad'} role="alert">
        {complaint}
      </p>
    </fieldset>
  );
}

function Choice<T extends string>(props: {
  readonly title: string;
  readonly value: T;
  readonly choose: (value: T) => void;
  readonly options: readonly (readonly [T, string, boolean])[];
}) {
  return (
    <fieldset>
      <legend>{props.title}</legend>
      {props.options.map(([value, title, isOff]) => (
        <label key={value} class="option">
          <input
            type="radio"
            name={props.title}
            checked={props.value === value}
            disabled={isOff}
            onChange={() => props.choose(value)}
          />
          {title}
        </label>
      ))}
    </fieldset>
  );
}

const MOST_GLOBS = 20;
const LONGEST_VALUE = 200;

/**
 * Every argument that a glob can be about, held to what was asked: a star that the agent has written is a star. What is masked
 * cannot be matched by its mask.
 */
function asAsked(args: unknown): Readonly<Record<string, string>> {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {};
  const texts = Object.entries(args).map(([name, value]): [string, string] => [name, textOf(value)]);
  const fit = texts.filter(([name, text]) => {
    const isShort = text !== '' && text.length <= LONGEST_VALUE && !text.includes('\n') && visible(text) === text;
    return isShort && !hasMask(text) && matchesPattern({ [name]: escapeGlob(text) }, args);
  });
  return Object.fromEntries(fit.slice(0, MOST_GLOBS).map(([name, text]) => [name, escapeGlob(text)]));
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function freeNames(args: unknown, pattern: Readonly<Record<string, string>>): readonly string[] {
  const names = typeof args === 'object' && args !== null ? Object.keys(args) : [];
  return names.filter((name) => !Object.hasOwn(pattern, name));
}

function complaintOf(pattern: Readonly<Record<string, string>>, args: unknown): string {
  if (Object.keys(pattern).length === 0)
    return 'Nothing is asked of the arguments so: choose “any call of the tool” if that is meant.';
  const misses = Object.entries(pattern).filter(([name, glob]) => !matchesPattern({ [name]: glob }, args));
  return misses.length === 0 ? '' : `This call itself would not match: ${misses.map(([name]) => name).join(', ')}.`;
}
