import type { HereDoc, ParameterExpansionPart } from 'unbash';

/**
 * The texts that a substitution in backticks may be, where that depends on what stands around it: between double quotes a
 * backslash before a quote is taken away, in "${…}" and in here-documents it is not. Empty where it does not matter.
 */
export function backtickReadings(text: string): readonly string[] {
  if (!text.startsWith('`') || !text.includes('\\"')) return [];
  const body = text.slice(1, -1);
  return [body.replace(/\\([\\$`])/g, '$1'), body.replace(/\\([\\$`"])/g, '$1')];
}

/**
 * What stands within `${x/a/b}`, `${x:a:b}` and `${x[a]}`, as one text. The parser takes it apart at the first `/`, `:` or
 * `]`, even one inside a substitution: `${x/$(: /; y)/}` runs y. Undefined where nothing within it runs anything.
 */
export function splitText({ text, operation, index }: ParameterExpansionPart): string | undefined {
  if (index === undefined && operation?.type !== 'Replace' && operation?.type !== 'Slice') return undefined;
  return /`|\$[({]|[<>]\(/.test(text.slice(2)) ? `: "${text.slice(2, -1)}"` : undefined;
}

/**
 * What stands within `${…}` in a here-document, as texts. Quotes do not quote there, although the parser thinks so:
 * `${x:-'$(y)'}` runs y.
 */
export function hereDocumentTexts({ body, delimiter }: HereDoc): readonly string[] {
  if (delimiter?.quoted === true) return [];
  return (body.parts ?? []).flatMap((part) => {
    const isMistaken = part.type === 'ParameterExpansion' && part.text.includes("'") && /`|\$\(/.test(part.text);
    return isMistaken ? [`: "${part.text.replace(/['"]/g, ' ')}"`] : [];
  });
}
