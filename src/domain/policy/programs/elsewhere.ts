import { HOLE } from '../../command/expand.ts';

const CONTAINERS: ReadonlySet<string> = new Set('docker podman nerdctl docker-compose podman-compose'.split(' '));
const CLUSTERS: ReadonlySet<string> = new Set('kubectl oc k9s'.split(' '));
const MACHINES: ReadonlySet<string> = new Set('ssh autossh mosh'.split(' '));
/** Options by which something of ours is brought along, or something is left with us. */
const BRINGS =
  /^(?:-[voFiEf]|--(?:volume|mount|device|env-file|cidfile|iidfile|label-file|metadata-file|secret|ssh|build-context|cache-from|cache-to|output|opt|security-opt|rootfs|authfile|config|file|project-directory|kubeconfig))$/;
/** What such a value says of the other side, or of how it is done. */
const NO_SOURCE = /^(?:target|dst|destination|id|type|readonly|ro|mode|uid|gid|required|env)$/;
const SOURCE = /^(?:source|src|dest|device|path)$/;

/** Whether what a program is to run, it runs on another machine or in a container, with files of its own. */
export function isElsewhere(program: string, args: readonly string[]): boolean {
  if (MACHINES.has(program)) return true;
  const isContainer = CONTAINERS.has(program);
  if (!isContainer && !CLUSTERS.has(program)) return false;
  const verbs = args.filter((text) => !text.startsWith('-')).slice(0, 3);
  const isOurs = verbs.some((text) => /^(?:cp|secret|config)$/.test(text));
  return verbs.some((text) => /^(?:exec|run)$/.test(text) || (isContainer && text === 'create')) && !isOurs;
}

/** Whether a program takes directories of ours to where it runs things, by whatever verb. */
export function isContainerProgram(program: string): boolean {
  return CONTAINERS.has(program);
}

/** What such a program is given of ours: directories that are mounted, files of options. */
export function localFiles(args: readonly string[]): readonly string[] {
  return args.flatMap((text, at) =>
    [...broughtBy(text), ...(brings(args[at - 1] ?? '') ? [text] : [])].flatMap((value) =>
      value.split(',').flatMap((part) => sourceIn(part, value)),
    ),
  );
}

/** `-v`, and `-itv` where letters stand together. */
function brings(option: string): boolean {
  return BRINGS.test(option) || /^-[a-zA-Z]{1,8}v$/.test(option);
}

/** `--volume=x`, `-v=x`, `-itvx`. */
function broughtBy(text: string): readonly string[] {
  if (text.startsWith('--')) {
    const equals = text.indexOf('=');
    return equals !== -1 && BRINGS.test(text.slice(0, equals)) ? [text.slice(equals + 1)] : [];
  }
  const attached = [/^-[oFiEf]=?(.+)$/s, /^-[a-zA-Z]{0,8}?v=?(.+)$/s].map((form) => form.exec(text)?.[1]);
  return attached.filter((value) => value !== undefined);
}

/** `/a:/b`, `src=/a`, `default=/a`, or a file by itself. A name in front of a colon is a volume, not a directory. */
function sourceIn(part: string, value: string): readonly string[] {
  const [, key, given = part] = /^([^=/]*)=(.*)$/s.exec(part) ?? [];
  if (key !== undefined && NO_SOURCE.test(key)) return [];
  const [source = ''] = given.split(':');
  const isPath = /^[./~]/.test(source) || source.startsWith(HOLE) || (key !== undefined && SOURCE.test(key));
  return source !== '' && (isPath || !/[:=]/.test(value)) ? [source] : [];
}
