import { options } from 'preact';
import { UNSEEN, visible } from '../domain/outcome/visible.ts';

/** In JSON also spaces that are none; elsewhere numbers and times have them. */
const UNSEEN_IN_JSON = new RegExp(`${UNSEEN.source}|(?! )\\p{Zs}`, 'gu');

/** JSON in lines that says the same and hides nothing; whoever parses it gets what was there. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNSEEN_IN_JSON, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

/** Every text of the page, whoever wrote it: a name that is forgotten here and there would be the one that deceives. */
export function makeAllTextVisible(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (node) => {
    const text: unknown = node.props;
    if (typeof text === 'string') Object.assign(node, { props: visible(text) });
    before?.(node);
  };
}
