import type { SyntaxNode } from 'unbash';
import type { Variables } from '../../command/expand.ts';
import type { Start } from './calls.ts';
import type { Fed } from './names-found.ts';
import { isBare } from './overlooked.ts';
import type { Run, Site } from './reading.ts';

/** Scripts within scripts that are read; what is deeper is a doubt. */
export const MOST_DEPTH = 8;

/** Where the reader stands. */
export interface Place {
  readonly source: string;
  /** Whether all of its words are plain. */
  readonly isBare: boolean;
  readonly variables: Variables;
  /** Set inside a text that is itself an argument: its positions mean nothing outside. */
  readonly site: Site | undefined;
  readonly through: readonly string[];
  readonly depth: number;
  readonly maybe: boolean;
  readonly by: Run | undefined;
  /** On another machine or in a container: its files are not ours. */
  readonly elsewhere: boolean;
  /** A program that nobody here knows, and that may run this. */
  readonly stranger: Run | undefined;
  /** The function that this is a part of, and how it is started there. */
  readonly within: string | undefined;
  readonly start: Start | undefined;
  readonly fed: Fed | undefined;
  /** What is written into the pipe that it reads from, as far as that is known. */
  readonly said: string | undefined;
}

export function outermost(source: string, variables: Variables): Place {
  return {
    source,
    isBare: isBare(source),
    variables,
    site: undefined,
    through: [],
    depth: 0,
    maybe: false,
    by: undefined,
    elsewhere: false,
    stranger: undefined,
    within: undefined,
    start: undefined,
    fed: undefined,
    said: undefined,
  };
}

/** How a part of a function runs: beside the others of a pipeline, or left running. */
export function started(node: SyntaxNode, child: SyntaxNode, place: Place): Place {
  if (node.type === 'Pipeline' && node.commands.length > 1)
    return { ...place, start: { within: place.start, pipeline: node, part: child } };
  const isLeft = node.type === 'Coproc' || (node.type === 'Statement' && node.background === true);
  return isLeft ? { ...place, start: beside(place) } : place;
}

export function beside(place: Place): Start {
  return { within: place.start, pipeline: undefined, part: undefined };
}
