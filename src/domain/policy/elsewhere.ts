const CONTAINERS: ReadonlySet<string> = new Set('docker podman nerdctl'.split(' '));
const CLUSTERS: ReadonlySet<string> = new Set('kubectl oc k9s'.split(' '));
const MACHINES: ReadonlySet<string> = new Set('ssh autossh mosh'.split(' '));
const MOUNTS = /^(?:-v|--volume|--mount|--env-file|--cidfile|--label-file|--tmpfs|-F|-i|-E|--kubeconfig)$/;

/** Whether what a program is to run, it runs on another machine or in a container, with files of its own. */
export function isElsewhere(program: string, args: readonly string[]): boolean {
  if (MACHINES.has(program)) return true;
  if (!CONTAINERS.has(program) && !CLUSTERS.has(program)) return false;
  const verbs = args.filter((text) => !text.startsWith('-')).slice(0, 3);
  return verbs.some((text) => text === 'exec' || text === 'run') && !verbs.includes('cp');
}

/** What such a program is given of ours: directories that are mounted, files of options. */
export function localFiles(args: readonly string[]): readonly string[] {
  return args.flatMap((text, at) => {
    const [, name, attached] = /^(--[a-z-]+)=(.*)$/s.exec(text) ?? /^(-[vFiE])(.+)$/s.exec(text) ?? [];
    const value =
      name !== undefined && MOUNTS.test(name) ? attached : MOUNTS.test(args[at - 1] ?? '') ? text : undefined;
    if (value === undefined) return [];
    const source = /(?:^|,)(?:source|src)=([^,]*)/.exec(value)?.[1] ?? value.split(':')[0] ?? '';
    return source === '' || (!/^[./~]/.test(source) && value.includes(':')) ? [] : [source];
  });
}
