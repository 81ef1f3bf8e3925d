/** How a variable decides what programs do beyond what the command line says. */
export type Steering =
  /** Its value is a command that some program runs. */
  | 'command'
  /** Its value is a program that takes the place of another one of its kind: a compiler. */
  | 'program'
  /** It changes how words are read, where programs are found, or what code they load. */
  | 'settings';

const COMMAND = new RegExp(
  `^(?:${[
    '\\w*(?:PAGER|EDITOR|BROWSER|ASKPASS|RSH)|VISUAL|FCEDIT|SHELL|GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|PROXY_COMMAND)|SVN_SSH|CVS_SERVER',
    'LESSOPEN|LESSCLOSE|npm_config_(?:call|script_shell|shell|git|viewer|node_options)|\\w*RUSTC(?:_WORKSPACE)?_WRAPPER|CARGO_TARGET_\\w+_(?:RUNNER|LINKER)',
    'SSH_SK_HELPER|GOCACHEPROG|HGMERGE|CLOUDSDK_PYTHON|RSYNC_CONNECT_PROG|FZF_DEFAULT_COMMAND|KUBECTL_EXTERNAL_DIFF|PERL5SHELL|RUBYSHELL|HARNESS_PERL|CCACHE_PREFIX\\w*',
  ].join('|')})$`,
  'i',
);
/** Compilers and what make calls by a variable of its own, down to whole command lines (`COMPILE.c`). */
const PROGRAM = new RegExp(
  `^(?:${[
    'CC|CXX|CPP|LD|AR|AS|FC|NM|RANLIB|STRIP|OBJC|OBJCOPY|MAKE|RUSTC|RUSTDOC|CARGO_BUILD_RUSTDOC|PKG_CONFIG|M2C|PC|CO|GET|RM|LEX|YACC|LINT|MAKEINFO|TEX|TEXI2DVI',
    'C?WEAVE|C?TANGLE|(?:COMPILE|LINK|PREPROCESS|LEX|YACC|LINT)\\.\\w+|PIP_PYTHON|UV_PYTHON|CCACHE_COMPILER|CARGO_BUILD_RUSTC',
    'CMAKE_(?:\\w+_)?(?:LAUNCHER|CLANG_TIDY|CPPLINT|CPPCHECK|WHAT_YOU_USE|MAKE_PROGRAM|EMULATOR)',
  ].join('|')})$`,
);
/** Who wrote a commit, and whether git may ask. */
const TAME_GIT =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|TERMINAL_PROMPT|OPTIONAL_LOCKS|MERGE_AUTOEDIT|PS1_\w+)$/;
/** What npm says, fetches and skips; by what it is not told here it may run something else. */
const TAME_NPM =
  '(?:loglevel|progress|color|unicode|audit|fund|yes|cache|registry|offline|prefer_o\\w+line|update_notifier|ignore_scripts|production|omit|include|only|optional|' +
  'legacy_peer_deps|strict_peer_deps|force|engine_strict|save\\w*|maxsockets|fetch_\\w+|strict_ssl|(?:https?_)?proxy|noproxy|workspaces?|jobs|json|long|depth|tag|access|' +
  'otp|build_from_source|arch|platform|libc|foreground_scripts|package_lock|lockfile|frozen_lockfile)';
const SETTINGS = new RegExp(
  `^(?:${[
    'PATH|IFS|ENV|SSH2?_CLIENT|SHLVL|HISTFILE|histchars|HOME|BASH_\\w.*|BASHOPTS|SHELLOPTS|POSIXLY_CORRECT|PROMPT_COMMAND|PS[0-4]|CDPATH|EXECIGNORE|GLOBIGNORE',
    'INPUTRC|TEXTDOMAIN(?:DIR)?|ZDOTDIR|FPATH|KSH_ENV|LD_.*|DYLD_.*|GCONV_PATH|HOSTALIASES|XDG_CONFIG_(?:HOME|DIRS)|GIT_.*|LESS|LESSKEY\\w*|LESSGLOBALTAGS',
    'PERL5(?:OPT|LIB|DB)|PERLLIB|MAILCAPS|PYTHON(?:STARTUP|PATH|HOME|INSPECT|WARNINGS|BREAKPOINT|USERBASE)|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)',
    'PERL_(?:MM|MB|CPANM)_OPT|HARNESS_(?:PERL_SWITCHES|SUBCLASS)|PYTEST_(?:ADDOPTS|PLUGINS)|COVERAGE_PROCESS_START|PIP_CONFIG_FILE',
    `BUNDLE_GEMFILE|NODE_(?:OPTIONS|PATH|REPL_EXTERNAL_MODULE)|ELECTRON_RUN_AS_NODE|npm_config_(?!${TAME_NPM}$)\\w+`,
    '(?:JAVA_TOOL|_JAVA|JDK_JAVA)_OPTIONS|(?:MAVEN|GRADLE)_OPTS|CLASSPATH|GOFLAGS|CARGO_HOME|RUSTFLAGS|CARGO_(?:BUILD|TARGET_\\w+)_RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|GOAUTH|RUSTUP_TOOLCHAIN|AWS_CONFIG_FILE|PYLINTRC',
    'G?N?U?MAKEFLAGS|MFLAGS|MAKEFILES|COMPILER_PATH|GCC_EXEC_PREFIX|VIMINIT|EXINIT|MYVIMRC|VIM|VIMRUNTIME|NVIM_APPNAME',
    'LUA_(?:INIT|PATH|CPATH)\\w*|TCLLIBPATH|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON|LIBS)\\w*|AWK(?:LIB)?PATH|PSQLRC',
    'ZIP(?:OPT)?|UNZIP(?:OPT)?|MANOPT|MANROFFOPT|APT_CONFIG|DBUS_\\w+_ADDRESS|RIPGREP_CONFIG_PATH|BAT_CONFIG_PATH|ACKRC|ACK_OPTIONS|WGETRC|GNUPGHOME',
    'FZF_DEFAULT_OPTS\\w*|CCACHE_CONFIGPATH|CMAKE_(?:TOOLCHAIN_FILE|PROJECT_\\w*INCLUDE\\w*)|GOENV|GOROOT|GOTOOLDIR|CARGO_ALIAS_\\w+',
    'TF_CLI_(?:ARGS\\w*|CONFIG_FILE)|HELM_PLUGINS|YARN_(?:RC_FILENAME|YARN_PATH)|ANT_(?:OPTS|ARGS)|MAVEN_(?:ARGS|CONFIG)|SPEC_OPTS',
    'HGRCPATH|CURL_HOME|JAVA_HOME|JRE_HOME|JAVACMD|OPENSSL_(?:CONF|MODULES|ENGINES)|TAR_OPTIONS|ANSIBLE_CONFIG|DOCKER_(?:HOST|CONFIG)|KUBECONFIG',
  ].join('|')})$`,
  'i',
);

export function steeringOf(given: string): Steering | undefined {
  // To npm `script-shell` and `script_shell` are the same.
  const name = given.includes('-') ? given.replaceAll('-', '_') : given;
  if (PROGRAM.test(name)) return 'program';
  if (COMMAND.test(name)) return 'command';
  return SETTINGS.test(name) && !TAME_GIT.test(name) ? 'settings' : undefined;
}

/** They put what variables hold into command lines, whichever variables these are. */
const SPELLS_OUT: ReadonlySet<string> = new Set('make gmake bmake nmake configure config.status scons'.split(' '));
/** What ends a command line or begins another one, to a shell or to make, or may (\0: HOLE); and what makes a compiler run others. */
const BREAKS_OUT = /[;|&`$\n\0]|(?:^|\s)(?:--?(?:wrapper|fplugin|specs|ld-path|iplugindir)\b|-B|@)/;

export function spellsOutVariables(program: string): boolean {
  return SPELLS_OUT.has(program);
}

/** Whether a value, put into a command line as it is, would be more than a word of it. */
export function breaksOut(value: string): boolean {
  return BREAKS_OUT.test(value);
}

/** Variables of many programs that say where they put files. */
const PUTS_FILES =
  /^(?:TMPDIR|TEMP|TMP|DESTDIR|GO(?:BIN|PATH|CACHE|MODCACHE)|NODE_V8_COVERAGE|CARGO_(?:TARGET_DIR|INSTALL_ROOT)|PYTHONPYCACHEPREFIX|COVERAGE_FILE|XDG_[A-Z]+_HOME|PIP_TARGET|SSLKEYLOGFILE|GCOV_PREFIX|LLVM_PROFILE_FILE)$/;

export function saysWhereFilesGo(variable: string): boolean {
  return PUTS_FILES.test(variable);
}

/** Where they would put them anyway. */
export function isUsualPlace(path: string): boolean {
  return /^\/(?:var\/)?tmp\/?$/.test(path);
}

/** Whether what a variable holds matters to anybody but whoever reads it by its name. */
export function isTelling(variable: string): boolean {
  return steeringOf(variable) !== undefined || saysWhereFilesGo(variable);
}
