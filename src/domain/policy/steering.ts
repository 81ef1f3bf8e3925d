/** How a variable decides what programs do beyond what the command line says. */
export type Steering =
  /** Its value is a command that some program runs. */
  | 'command'
  /** Its value is a program that takes the place of another one of its kind: a compiler. */
  | 'program'
  /** It changes how words are read, where programs are found, or what code they load. */
  | 'settings';

const COMMAND =
  /^(?:\w*(?:PAGER|EDITOR|BROWSER|ASKPASS|RSH)|VISUAL|FCEDIT|SHELL|GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|PROXY_COMMAND)|SVN_SSH|LESSOPEN|LESSCLOSE|npm_config_(?:script_shell|shell|git|viewer)|\w*RUSTC(?:_WORKSPACE)?_WRAPPER|CARGO_TARGET_\w+_(?:RUNNER|LINKER))$/i;
const PROGRAM = /^(?:CC|CXX|CPP|LD|AR|AS|FC|NM|RANLIB|STRIP|MAKE|RUSTC|RUSTDOC)$/;
/** Who wrote a commit, and whether git may ask. */
const TAME_GIT =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT|PS1_\w+)$/;
const SETTINGS = new RegExp(
  `^(?:${[
    'PATH|IFS|ENV|HISTFILE|histchars|HOME|BASH_\\w.*|BASHOPTS|SHELLOPTS|POSIXLY_CORRECT|PROMPT_COMMAND|PS[0-4]|CDPATH|EXECIGNORE|GLOBIGNORE',
    'INPUTRC|ZDOTDIR|FPATH|KSH_ENV|LD_.*|DYLD_.*|GCONV_PATH|HOSTALIASES|XDG_CONFIG_(?:HOME|DIRS)|GIT_.*|LESS|LESSKEY\\w*',
    'PERL5(?:OPT|LIB|DB)|PYTHON(?:STARTUP|PATH|HOME|INSPECT|WARNINGS|BREAKPOINT|USERBASE)|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)',
    'BUNDLE_GEMFILE|NODE_(?:OPTIONS|PATH|REPL_EXTERNAL_MODULE)|ELECTRON_RUN_AS_NODE|npm_config_(?:userconfig|globalconfig|prefix|node_options)',
    '(?:JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|(?:MAVEN|GRADLE)_OPTS|CLASSPATH|GOFLAGS|CARGO_HOME|RUSTFLAGS|CARGO_BUILD_RUSTFLAGS',
    'G?N?U?MAKEFLAGS|MFLAGS|MAKEFILES|COMPILER_PATH|GCC_EXEC_PREFIX|VIMINIT|EXINIT|MYVIMRC|VIM|VIMRUNTIME|NVIM_APPNAME',
    'LUA_(?:INIT|PATH|CPATH)\\w*|TCLLIBPATH|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON|LIBS)\\w*|AWK(?:LIB)?PATH|PSQLRC',
    'HGRCPATH|CURL_HOME|OPENSSL_(?:CONF|MODULES|ENGINES)|TAR_OPTIONS|ANSIBLE_CONFIG|DOCKER_(?:HOST|CONFIG)|KUBECONFIG',
  ].join('|')})$`,
  'i',
);

export function steeringOf(name: string): Steering | undefined {
  if (PROGRAM.test(name)) return 'program';
  if (COMMAND.test(name)) return 'command';
  return SETTINGS.test(name) && !TAME_GIT.test(name) ? 'settings' : undefined;
}
