import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const verdict = (command: string) => judgeCommand(command, policy, { trust: 'trusted' }).verdict;

describe('a setting that decides nothing about what is run does not ask', () => {
  it.each([
    'NODE_OPTIONS=--max-old-space-size=4096 npm run build',
    'NODE_OPTIONS="--experimental-vm-modules --no-warnings" npx jest',
    'RUSTFLAGS="-D warnings" cargo build',
    'RUSTFLAGS="-C target-cpu=native" cargo build --release',
    'GOFLAGS=-mod=mod go list -m all',
    'JAVA_TOOL_OPTIONS=-Xmx2g mvn test',
    'GRADLE_OPTS=-Dorg.gradle.daemon=false ./gradlew build',
    'MAKEFLAGS=-j8 make',
    'PYTEST_ADDOPTS="-q --tb=short" pytest',
    'PYTHONWARNINGS=ignore::DeprecationWarning pytest',
    'LESS=-FRX git log',
    'export PATH="$HOME/.cargo/bin:$PATH"',
    'export PATH=$PATH:/usr/local/go/bin && go build',
    'GIT_SSH_COMMAND="ssh -i key -o StrictHostKeyChecking=no" git pull',
    "IFS=, read -r a b <<'E'\nx,y\nE",
    'while IFS=: read -r name _ id; do echo "$name"; done < users',
    "IFS=$'\\t' read -r a b < f",
  ])('%s', (command) => {
    expect(verdict(command)).toBe('allow');
  });
});

describe('one that does asks', () => {
  it.each([
    "NODE_OPTIONS='--no-warnings --require ./x.js' node y",
    'NODE_OPTIONS=--import=./x.mjs node y',
    'NODE_OPTIONS=$X node y',
    'RUSTFLAGS="-C linker=./x" cargo build',
    'RUSTFLAGS=-Clinker=./x cargo build',
    "GOFLAGS='-mod=mod -toolexec=./x' go build",
    'JAVA_TOOL_OPTIONS=-XX:OnError=./x java A',
    'MAVEN_OPTS=-Dmaven.ext.class.path=x.jar mvn',
    'MAKEFLAGS=--eval=x make',
    "PYTEST_ADDOPTS='-p x' pytest",
    "LESS='+!x' less f",
    'LESS=-k./x less f',
    'PYTHONWARNINGS=error::x.y pytest',
    'PATH=.:$PATH ls',
    'PATH=$X:$PATH ls',
    'PATH="/usr/bin:$(pwd)" ls',
    'PATH=/usr/bin/../../tmp ls',
    'PATH=/usr/bin; PATH=x; ls',
    'PATH+=:. ls',
    'export PATH=/usr/bin P"AT"H=x; ls',
    'export PATH=/usr/bin "PATH=x"; ls',
    'IFS=$(x) read a',
    'x=env/reboot; read() { $x; }; IFS=/ read',
    'GIT_SSH_COMMAND="ssh -o ProxyCommand=./x" git pull',
  ])('%s', (command) => {
    expect(['ask', 'deny']).toContain(verdict(command));
  });
});

describe('where code is looked for matters if the line puts some there', () => {
  it.each([
    'PYTHONPATH=. pytest',
    'PYTHONPATH=src:lib python3 scripts/run.py --out model.bin > log.txt',
    'export PYTHONPATH="$PWD"',
    'LD_LIBRARY_PATH=./lib ./app',
    'KUBECONFIG=dev.yaml kubectl get pods',
  ])('%s runs', (command) => {
    expect(verdict(command)).toBe('allow');
  });

  it.each([
    'echo x > a/json.py; PYTHONPATH=a python3 y.py',
    'export PYTHONPATH=a; echo x > a/json.py; python3 y.py',
    "bash -c 'echo x > json.py; PYTHONPATH=. python3 y'",
    "PYTHONPATH=a bash -c 'cp x a/json.py; python3 y'",
    'echo x > k.txt; KUBECONFIG=k.txt kubectl get pods',
    'tar xf a.tar; LD_LIBRARY_PATH=. ./app',
    'PYTHONPATH=$X python3 y.py',
  ])('%s asks', (command) => {
    expect(verdict(command)).toBe('ask');
  });
});
