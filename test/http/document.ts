import { Ajv2020 } from 'ajv/dist/2020.js';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

export const bodyOf = ({ requestBody }: Operation) => requestBody?.content?.['application/json']?.schema;

export function resolved(document: Document, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolved(document, document.components.schemas[name] ?? {});
}

/** Whether a value is what a schema of the document says. */
export function validator(document: Document): (schema: Schema, value: unknown) => string {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
  ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)));
  ajv.addSchema({ $id: 'document', components: document.components });
  const compiled = new Map<Schema, ReturnType<Ajv2020['compile']>>();
  return (schema, value) => {
    const known = compiled.get(schema) ?? ajv.compile(absolute(schema));
    compiled.set(schema, known);
    return known(value) ? '' : ajv.errorsText(known.errors);
  };
}

function absolute(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')) as Schema;
}

type Path = readonly (string | number)[];

/** A value with everything in it that the schema names, and where its texts are. */
export function sample(
  document: Document,
  schema: Schema,
  known: Readonly<Record<string, unknown>>,
): { readonly value: unknown; readonly texts: readonly Path[] } {
  const texts: Path[] = [];
  const build = (given: Schema, path: Path): unknown => {
    const one = resolved(document, given);
    const alternatives = one.anyOf ?? one.oneOf;
    if (alternatives !== undefined) return build(alternatives.at(-1) ?? {}, path);
    const name = String(path.at(-1));
    if (one.enum !== undefined) return one.enum[0];
    const type = typeof one.type === 'string' ? one.type : one.type?.[0];
    switch (type) {
      case 'object': {
        const properties = Object.entries(one.properties ?? {}).filter(([key]) => known[key] !== null);
        const built = properties.map(([key, inner]) => [key, build(inner, [...path, key])]);
        if (one.properties !== undefined) return Object.fromEntries(built) as unknown;
        texts.push([...path, 'some']);
        return { some: 'text' };
      }
      case 'array':
        return [build(one.items ?? {}, [...path, 0])];
      case 'string':
        texts.push(path);
        if (one.format === 'uuid') return '01a1e85a-0000-7000-8000-000000000000';
        if (one.format === 'date-time') return new Date(Date.now() + 3_600_000).toISOString();
        return known[name] ?? (one.pattern?.includes('{64}') === true ? 'a'.repeat(64) : '1');
      case 'integer':
      case 'number':
        return Math.max(1, one.minimum ?? 1);
      case 'boolean':
        return true;
      case undefined:
      default:
        texts.push([...path, 'deep']);
        return { deep: 'text' };
    }
  };
  return { value: build(schema, []), texts };
}

export function withAt(value: unknown, [first, ...rest]: Path, text: unknown): unknown {
  if (first === undefined) return text;
  if (Array.isArray(value)) return value.map((one: unknown, at) => (at === first ? withAt(one, rest, text) : one));
  const fields = value as Record<string, unknown>;
  return { ...fields, [first]: withAt(fields[first], rest, text) };
}
