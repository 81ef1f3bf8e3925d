import { HOLE } from '../../command/expand.ts';

/** Options by which a JVM loads and runs nothing: sizes, switches, properties that name neither a class nor a file. */
const JVM =
  /^-(?:Xm[snx]\d+[kmg]?|Xss\d+[kmg]?|ea|server|XX:[+-]\w+|XX:\w+=[\d.]+[kmg]?|D(?!com\.sun)[\w.-]+=(?:true|false|\d+|utf-?8))$/i;
/** Variables that hold options, and the words in them that decide nothing about what is run. */
const WORDS: ReadonlyMap<string, RegExp> = new Map([
  [
    'NODE_OPTIONS',
    /^--(?:(?:max-[\w-]+-size|stack-size|stack-trace-limit|unhandled-rejections|dns-result-order)=[\w-]+|enable-source-maps|experimental-(?:vm-modules|strip-types|transform-types|fetch|global-\w+)|no-[\w-]+|trace-[\w-]+|(?:throw|pending)-deprecation|openssl-legacy-provider|expose-gc|use-[\w-]+-ca)$/,
  ],
  [
    'RUSTFLAGS',
    /^(?:-[ADWF]|-C|--cfg|-[gO]|[a-z_]+(?:::[a-z_]+)?|-[ADWF][a-z_:]+|(?:-C)?(?:target-cpu|target-feature|opt-level|debuginfo|debug-assertions|overflow-checks|panic|lto|strip|codegen-units|instrument-coverage|force-frame-pointers)(?:=[\w+,-]+)?)$/,
  ],
  ['GOFLAGS', /^-(?:(?:mod|count|tags|buildvcs|timeout|p)=[\w,.]+|v|race|short|trimpath|modcacherw)$/],
  ['MAKEFLAGS', /^(?:-{0,2}(?:j ?\d*|s|k|silent|keep-going|no-print-directory|jobs=\d+|output-sync(?:=\w+)?))$/],
  ['PYTEST_ADDOPTS', /^(?:-[qvxsl]+|--(?:color|tb|maxfail|durations)=\w+|--(?:lf|ff|no-header|strict-markers))$/],
  ...['JAVA_HOME', 'JRE_HOME'].map((name): [string, RegExp] => [
    name,
    /^\/(?:usr|opt|Library|nix)\/(?!.*\.\.)[\w./+@-]*$/,
  ]),
  ['LESS', /^-?[FRXSiIMmnNWKqeE]+$/],
  ['PYTHONWARNINGS', /^(?:(?:ignore|default|error|always|module|once)(?:::\w*Warning)?,?)+$/],
  ...'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS ANT_OPTS'
    .split(' ')
    .map((name): [string, RegExp] => [name, JVM]),
]);
/** Where programs are installed, and nothing else is written by those who are judged here. */
const INSTALLED =
  /^(?:\/(?:usr|opt|snap|nix)(?:\/[\w.+-]+)*|\/s?bin|~\/(?:\.[\w-][\w.-]*(?:\/[\w.+-]+)*|bin|go\/bin))\/?$/;
const PLACES = /^(?:PYTHONPATH|NODE_PATH|PERL5LIB|PERLLIB|RUBYLIB|(?:LD|DYLD)_LIBRARY_PATH|KUBECONFIG)$/;

/** Whether a setting, at this value, leaves it to the command line what runs. */
export function isTameSetting(name: string, value: string): boolean {
  if (value.includes(HOLE)) return false;
  const word = WORDS.get(name);
  return word !== undefined && value.split(/\s+/).every((each) => each === '' || word.test(each));
}

/** Whether a text does nothing but to set PATH to what it was, and to places where programs are installed. */
export function addsToPath(text: string): boolean {
  const [, quoted, bare = quoted] = /^(?:export\s+)?PATH=(?:"([^"]*)"|(\S*))$/.exec(text) ?? [];
  return bare?.split(':').every(isOfPath) === true;
}

function isOfPath(place: string): boolean {
  if (/^\$(?:PATH|\{PATH\})$/.test(place)) return true;
  if (/^(?:\$PWD|\$\{PWD\}|\.)\/node_modules\/\.bin\/?$/.test(place)) return true;
  return INSTALLED.test(place.replace(/^\$(?:HOME|\{HOME\})(?=\/)/, '~')) && !place.includes('..');
}

/** Where a setting has programs look for what they load, if it says so; undefined for all that do more than that. */
export function placesOfCode(name: string, value: string): readonly string[] | undefined {
  if (!PLACES.test(name) || value.includes(HOLE)) return undefined;
  return value.split(':').filter((place) => place !== '');
}
