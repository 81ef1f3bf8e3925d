// Runs in a thread of its own: see markdown.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { tables } from '@joplin/turndown-plugin-gfm';
import TurndownService from 'turndown';
import type { Element } from 'turndown';
import type { MarkdownOrder } from './markdown.ts';

const { html, base } = workerData as MarkdownOrder;

const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
service.use(tables);
service.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object', 'canvas', 'title']);
service.remove((node) => node.nodeName.toLowerCase() === 'svg');
service.addRule('absolute links', {
  filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
  replacement: (content, node) => {
    const text = content.trim().replaceAll(/\s*\n\s*/g, ' ');
    const href = absolute(attributeOf(node, 'href'));
    return text === '' || href === undefined ? text : `[${text}](${href})`;
  },
});
service.addRule('absolute images', {
  filter: 'img',
  replacement: (_, node) => {
    const alt = attributeOf(node, 'alt')
      .replaceAll(/[\s[\]]+/g, ' ')
      .trim();
    const source = absolute(attributeOf(node, 'src'));
    return source === undefined ? alt : `![${alt}](${source})`;
  },
});

function attributeOf(node: Element, name: string): string {
  return node.getAttribute(name) ?? '';
}

/** Only what can be fetched in turn: `javascript:` and `data:` are nothing to a reader of text. */
function absolute(reference: string): string | undefined {
  if (!URL.canParse(reference, base)) return undefined;
  const { protocol, href } = new URL(reference, base);
  return protocol === 'http:' || protocol === 'https:' ? href.replaceAll('(', '%28').replaceAll(')', '%29') : undefined;
}

parentPort?.postMessage(service.turndown(html).trim());
