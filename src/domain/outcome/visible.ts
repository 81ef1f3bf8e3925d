/** What a reader cannot see, or what moves what they see: control and format characters, and fillers. */
export const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Text in which nothing hides and nothing is turned round. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => `‹U+${codeOf(found).toString(16).toUpperCase().padStart(4, '0')}›`);
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
