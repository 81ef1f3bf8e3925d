import { HOLE, literal, type Field } from '../../command/expand.ts';
import { doubt, isUnsure, mayBeOption, type Consequence } from './consequence.ts';
import { namedCommand } from './named-command.ts';
import { abbreviates } from './options.ts';

/** Settings that name no command and no file of settings. Nobody knows all the others. */
const TAME_SETTING =
  /^(?:user\.(?:name|email)|color\..*|colou?r|column\..*|advice\..*|core\.(?:autocrlf|eol|safecrlf|quotepath|abbrev|filemode|ignorecase|precomposeunicode|commentchar|longpaths|symlinks|compression|checkstat|bare|logallrefupdates)|commit\.(?:gpgsign|verbose)|tag\.(?:gpgsign|sort)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.(?:prune|parallel)|rebase\.(?:autostash|autosquash)|merge\.(?:ff|conflictstyle)|diff\.(?:algorithm|renames|renamelimit|context|colormoved|noprefix|mnemonicprefix)|log\..*|branch\.[^!]*\.(?:merge|remote|rebase)|branch\.(?:sort|autosetuprebase)|rerere\..*|status\..*|gc\.(?!recentobjectshook$).*|pack\..*|feature\..*|http\.(?:postbuffer|version|lowspeed.*)|index\..*|blame\..*|grep\..*|format\..*|i18n\..*|stash\..*|transfer\..*|clone\..*|maintenance\.auto|submodule\.(?:recurse|fetchjobs)|safe\.directory|http\.(?:proxy|sslverify)|remote\.[^:]*\.(?:fetch|push|prune|tagopt|mirror))$/i;
/** They hold an address; one of the kind of `ext::` names a command. */
const ADDRESS_SETTING =
  /^(?:remote\.[^:]*\.(?:push)?url|submodule\.[^:]*\.url|lfs\.url|url\.(?!\w+::).*\.(?:push)?insteadof)$/i;
const ADDRESS = /^(?:(?:https?|ssh|git|file):\/\/|[\w.-]+@[\w.-]+:(?!:)|[./~])[\w./~@:%+=-]*$/;
/** Long options whose value is a command that git runs, here or on another machine. */
const COMMANDS = 'upload-pack receive-pack exec extcmd open-files-in-pager sendmail-cmd to-cmd cc-cmd smtp-server';
const OWN_VALUED = /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|config-env|super-prefix|attr-source))$/;
/** Letters that name a command or a setting, and those whose value is the rest of a cluster, by subcommand. */
const SHORT: ReadonlyMap<string, readonly [running: string, valued: string]> = new Map([
  ['clone', ['uc', 'boj']],
  ['grep', ['O', 'efmABC']],
  ['rebase', ['x', 'sXCS']],
]);
/** Options of theirs name commands, and so do addresses of the kind of `ext::`. */
const TAKES_COMMANDS = /^(?:clone|fetch|pull|push|ls-remote|archive|grep|rebase)$/;
/** They run what their arguments or settings name. */
const RUNNING =
  /^(?:difftool|mergetool|bisect--helper|filter-branch|shell|hook|merge-index|send-email|instaweb|web--browse|daemon|submodule--helper|remote-.*|credential.*|for-each-repo|p4|svn|cvs.*|archimport|fast-import|http-backend|gui|citool|imap-send)$/;

/** git runs commands named in its settings, and a few given as arguments. */
export function git(args: readonly Field[], program: string): readonly Consequence[] {
  const found: Consequence[] = [];
  let at = 0;
  for (; /^-/.test(args[at]?.text ?? ''); at += 1) {
    const { text = '' } = args[at] ?? {};
    if (text.startsWith('-c')) found.push(...setting(text === '-c' ? args[at + 1]?.text : text.slice(2)));
    if (/^--(?:config-env|exec-path=)/.test(text) || (text === '--exec-path' && at + 1 < args.length)) {
      found.push(...doubt(`git ${text} decides what it runs`));
    }
    if (OWN_VALUED.test(text)) at += 1;
  }
  const [subcommand, ...rest] = args.slice(at);
  if (subcommand === undefined) return found;
  if (isUnsure([subcommand]) || isUnsure(args.slice(0, at)))
    return doubt(`what ${program} is to do is only known when it runs`);
  return [...found, ...subcommandRuns(subcommand.text, rest)];
}

function subcommandRuns(subcommand: string, rest: readonly Field[]): readonly Consequence[] {
  const words = rest.map(({ text }) => text);
  if (RUNNING.test(subcommand))
    return [...scriptsAmong(subcommand, words), ...doubt(`git ${subcommand} runs commands`)];
  switch (subcommand) {
    case 'bisect':
      if (words[0] === 'run') return [{ type: 'command', fields: rest.slice(1) }];
      // It hands on to git what it is to show.
      return /^vi(?:ew|sualize)$/.test(words[0] ?? '') && words.length > 1 ? git(rest.slice(1), 'git') : [];
    case 'submodule': {
      const each = words.indexOf('foreach');
      const given = words.slice(each + 1);
      const script = given.slice(given.findIndex((word) => !word.startsWith('-')));
      return each === -1 ? [] : [{ type: 'script', text: script.join(' ') }];
    }
    case 'config':
      return configured(words);
    default: {
      const found = words.flatMap((word, index) => optionRuns(subcommand, word, words[index + 1]));
      const isOpen = TAKES_COMMANDS.test(subcommand) && rest.some(mayBeOption);
      return isOpen ? [...found, ...doubt(`what git ${subcommand} is given may make it run others`)] : found;
    }
  }
}

/** What is written out of it is read: a blocked program is blocked there, too. */
function scriptsAmong(subcommand: string, words: readonly string[]): readonly Consequence[] {
  const option = subcommand === 'filter-branch' ? /^--[a-z]+-filter(?:=(.*))?$/s : /^(?:-x|--extcmd)(?:=(.*))?$/s;
  return words.flatMap((word, at): readonly Consequence[] => {
    const found = option.exec(word);
    return found === null ? [] : [{ type: 'script', text: found[1] ?? words[at + 1] ?? '' }];
  });
}

function optionRuns(subcommand: string, word: string, next = ''): readonly Consequence[] {
  const because = `git ${subcommand} runs a command that it is given`;
  const remote = /(?:^|=)ext::(.*)$/s.exec(word)?.[1];
  if (remote !== undefined) return [{ type: 'script', text: remote }, ...doubt(because)];
  const [, name, value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name !== undefined) {
    if (subcommand === 'rebase' && /^ex?e?c?$/.test(name)) return [{ type: 'script', text: value ?? next }];
    if (abbreviates(name, COMMANDS)) return namedCommand(value ?? next, because);
    if (subcommand === 'clone' && abbreviates(name, 'config')) return setting(value ?? next);
    if (abbreviates(name, 'separate-git-dir')) return doubt('what lies in a repository decides what git runs');
    return abbreviates(name, 'template') ? doubt(`git ${subcommand} --template brings hooks along`) : [];
  }
  const { letter, attached } = shortOption(subcommand, word) ?? { attached: '' };
  const given = attached === '' ? next : attached;
  if (letter === 'u') return namedCommand(given, because);
  if (letter === 'c') return setting(given);
  if (letter === 'x') return [{ type: 'script', text: given }];
  return letter === 'O' ? namedCommand(attached, because) : [];
}

/** The letter of a cluster that names a command, and what is attached to it. */
function shortOption(
  subcommand: string,
  word: string,
): { readonly letter: string; readonly attached: string } | undefined {
  const [running, valued] = SHORT.get(subcommand) ?? [];
  if (running === undefined || valued === undefined || !/^-[^-]/.test(word)) return undefined;
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    if (running.includes(letter)) return { letter, attached: word.slice(at + 1) };
    if (valued.includes(letter)) return undefined;
  }
  return undefined;
}

const CONFIG_VALUED = /^(?:-f|--file|--type|-t|--default|--comment|--value|--blob)$/;
/** Written out: git takes them cut short, too, and negated, and what is one then nobody here knows. */
const CONFIG_OPTION =
  /^(?:-[flezt]|--(?:global|local|system|worktree|file|blob|list|get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|unset|unset-all|remove-section|replace-all|add|append|all|bool|int|bool-or-int|bool-or-str|path|expiry-date|type|null|name-only|show-names|show-origin|show-scope|includes|no-includes|default|comment|value|fixed-value|regexp|url|edit)(?:=.*)?)$/s;

/** `git config a.b c` writes a setting; asking for one does no harm. */
function configured(words: readonly string[]): readonly Consequence[] {
  const own = words.filter((_, at) => !CONFIG_VALUED.test(words[at - 1] ?? ''));
  if (own.some((word) => word.startsWith('-') && !CONFIG_OPTION.test(word)) || own[0] === 'rename-section')
    return doubt('git config has an option by which it may set anything');
  if (own.some((word) => /^(?:-l|--(?:get.*|list|unset.*))$/.test(word))) return [];
  const operands = own.filter((word) => !word.startsWith('-'));
  // Only in front is it a command of its own, behind a name it is a value, or a pattern of values.
  if (/^(?:get|list|unset)$/.test(operands[0] ?? '')) return [];
  const [key = '', value] = operands[0] === 'set' ? operands.slice(1) : operands;
  if (words.some((word) => /^(?:-e|edit|--edit)$/.test(word))) return doubt('git config starts an editor');
  return value === undefined && !words.includes('--add') ? [] : setting(`${key}=${value ?? ''}`);
}

function setting(text = HOLE): readonly Consequence[] {
  const [key = '', value = ''] = text.split(/=(.*)/s);
  if (TAME_SETTING.test(key) || (ADDRESS_SETTING.test(key) && ADDRESS.test(value))) return [];
  // A shorter name for what git does itself.
  if (/^alias\.[\w-]+$/i.test(key) && /^[a-z][\w./=@^~:%,+ -]*$/.test(value))
    return git(value.split(/ +/).map(literal), 'git');
  const because = `the setting ${key.replaceAll(HOLE, '…')} may name a command that git runs`;
  const isCommand = /^(?:core\.(?:pager|editor|sshcommand)|pager\..*|sequence\.editor)$/i.test(key);
  if (isCommand) return namedCommand(value, because);
  return [{ type: 'script', text: value.replace(/^!/, '') }, ...doubt(because)];
}
