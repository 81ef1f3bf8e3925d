// The part of both that is used here. Their published types want a browser's, which would be there for all of our code then.
declare module 'turndown' {
  export interface Element {
    readonly nodeName: string;
    getAttribute(name: string): string | null;
  }
  interface Rule {
    readonly filter: string | ((node: Element) => boolean);
    readonly replacement: (content: string, node: Element) => string;
  }
  export default class TurndownService {
    constructor(options: Readonly<Record<string, string>>);
    use(plugin: (service: TurndownService) => void): this;
    remove(filter: readonly string[] | ((node: Element) => boolean)): this;
    addRule(name: string, rule: Rule): this;
    turndown(html: string): string;
  }
}

declare module '@joplin/turndown-plugin-gfm' {
  import type TurndownService from 'turndown';

  export function tables(service: TurndownService): void;
}
