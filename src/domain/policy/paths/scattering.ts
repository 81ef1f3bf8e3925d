import { HOLE, MADE, type Field } from '../../command/expand.ts';
import { knownProgram } from '../programs/known-program.ts';
import { formOf } from './forms.ts';

const SCATTERING: ReadonlySet<string> = new Set('patch split csplit cpio pax uudecode git tar gtar bsdtar'.split(' '));
/** Of git: they make files, or what files are made of, from what they are given. */
const GIT_SCATTERS =
  /^(?:apply|am|hash-object|mktree|update-index|unpack-objects|index-pack|unbundle|mailsplit|mailinfo)$/;
const UNPACKERS: ReadonlySet<string> = new Set(
  (
    'tar gtar bsdtar unzip 7z 7za 7zr 7zz unar unrar ar jar dpkg-deb dpkg gunzip gzip bunzip2 bzip2 unxz xz unlzma lzma unzstd zstd ' +
    'lz4 unlz4 brotli uncompress lzip plzip pigz unpigz pbzip2 zpaq cabextract'
  ).split(' '),
);

/** Of git: they say what is asked for, or write it to the file that `--output` names. */
const GIT_SAYS = /^(?:log|diff|show|shortlog|rev-list|diff-tree|diff-index|diff-files|whatchanged)$/;

/** One of several names, perhaps, of which one is written; or an option that names one. */
function isSomewhere({ text, many, glob, found }: Field): boolean {
  return (many || text.startsWith(MADE)) && found !== true && !glob && text.includes(HOLE);
}

/** Programs that write to what the last of their operands, or an option, names. */
function writesLast(program: string): boolean {
  const form = formOf(program);
  return form?.writesLast === true || form?.writesSecond === true || /^(?:shuf|iconv|sort)$/.test(program);
}

/** Whether a program writes files whose names its arguments do not tell: parts, what a patch or an archive names. */
export function scatters(program: string, args: readonly Field[]): boolean {
  if (args.some(isSomewhere) && writesLast(program)) return true;
  if (!SCATTERING.has(program)) return false;
  if (program !== 'git' && !program.endsWith('tar')) return true;
  const words = args.map(({ text }) => text);
  if (program === 'git') {
    const subcommand = words.find((word) => !word.startsWith('-')) ?? '';
    return (
      GIT_SCATTERS.test(subcommand) ||
      subcommand === 'format-patch' ||
      (GIT_SAYS.test(subcommand) && words.some((word) => word.startsWith(MADE)))
    );
  }
  // An archive that lies there may be run from; one that is piped in may hold anything.
  const isNamed = words.some(
    (word, at) => /^-\w*f/.test(word) || (at === 0 && /^\w*f/.test(word)) || /^--fi/.test(word),
  );
  return isExtracting(words) && (!isNamed || words.some((word) => /^-$|^\/dev\/|^-\w*f-$|=-$/.test(word)));
}

/** Whether what it scatters comes from files that its arguments name. */
export function scattersNamed(program: string, args: readonly Field[]): boolean {
  const words = args.map(({ text }) => text).filter((text) => text !== '');
  if (program === 'patch') return words.some((word) => /^(?:-i|--input)/.test(word));
  return (
    program === 'git' && /^(?:apply|am)$/.test(words[0] ?? '') && words.slice(1).some((word) => /^[^-]/.test(word))
  );
}

type Test = (words: readonly string[]) => boolean;

const isCompiled: Test = (words) =>
  !words.some((word) => word.startsWith('-o')) && words.some((word) => !word.startsWith('-'));

/** Whether they put what a file holds into another one, whose name their arguments do not tell. */
const RENAMING: ReadonlyMap<string, Test> = new Map([
  ...renaming('cp mv ln install patch', (words) => words.some((word) => /^(?:-[a-zA-Z]*[bS]|--(?:ba|su))/.test(word))),
  ...renaming('sed gsed perl ruby', (words) => words.some((word) => /^(?:-[a-zA-Z]*i.|--in?[a-z-]*=)/.test(word))),
  ...renaming('rename rename.ul prename file-rename mmv savelog logrotate javac', () => true),
  ...renaming('git', (words) => words.includes('checkout-index')),
  ...renaming('python', (words) =>
    words.some((word) => /^(?:compileall|py_compile|tarfile|zipfile|zipapp)$/.test(word)),
  ),
  ...renaming('gcc tcc rustc go', isCompiled),
]);

function renaming(programs: string, test: Test): readonly [string, Test][] {
  return programs.split(' ').map((program) => [program, test]);
}

/** Whether it makes files of what an archive, or another file, holds. */
export function unpacks(program: string, args: readonly Field[]): boolean {
  const renames = RENAMING.get(
    program.startsWith('python') ? 'python' : knownProgram(program).isCompiler ? 'gcc' : program,
  );
  if (renames?.(args.map(({ text }) => text)) === true) return true;
  if (!UNPACKERS.has(program)) return false;
  return !program.endsWith('tar') || isExtracting(args.map(({ text }) => text));
}

function isExtracting(words: readonly string[]): boolean {
  return words.some(
    (word, at) => /^--(?:ext|get)/.test(word) || (/^-?\w*x/.test(word) && (at === 0 || word.startsWith('-'))),
  );
}

/** The files that git writes with a content it is given: `log --output=x`, `config -f x`, `mv a x`. */
export function writtenByGit(args: readonly Field[]): readonly string[] {
  const words = args.map(({ text }) => text);
  const isSetting = words.includes('config');
  const isMoving = words.includes('mv');
  const own = /^(?:merge-file|interpret-trailers|bundle)$/.test(words.find((word) => !word.startsWith('-')) ?? '');
  if (own) return words.filter((word) => !word.startsWith('-'));
  return words.flatMap((word, at) => {
    const before = words[at - 1] ?? '';
    const [, name = '', value] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? [];
    if (isOutput(name, isSetting)) return [value ?? ''];
    if (isOutput(before, isSetting)) return [word];
    const attached = /^-[of]/.test(word) && word.length > 2 && isOutput(word.slice(0, 2), isSetting);
    return attached ? [word.slice(2)] : isMoving && !word.startsWith('-') && word !== 'mv' ? [word] : [];
  });
}

function isOutput(option: string, isSetting: boolean): boolean {
  return /^(?:-o|--out[a-z-]*)$/.test(option) || (isSetting && /^(?:-f|--file)$/.test(option));
}
