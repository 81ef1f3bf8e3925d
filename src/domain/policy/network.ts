/** Commands that talk to other machines, as patterns. */
export const NETWORK: readonly string[] = [
  ...(
    'curl wget nc ncat netcat socat telnet ftp sftp tftp lftp ssh scp autossh mosh rsync rclone aria2c lynx links w3m httpie http ' +
    'dig nslookup host whois ping ping6 traceroute tracepath mtr nmap gh glab hub'
  ).split(' '),
  ...['openssl s_client', 'git clone', 'git fetch', 'git pull', 'git push', 'git ls-remote', 'git submodule update'],
  ...[
    'git submodule add',
    'git remote update',
    'git remote show',
    'git remote prune',
    'git archive --remote*',
    'git send-email',
  ],
  ...of('docker podman nerdctl', 'pull push login search'),
  ...of('pip pip3 pipx', 'install download'),
  ...of('npm pnpm yarn bun', 'install i ci add update publish view dlx'),
  ...of('cargo', 'install add update fetch publish search'),
  ...of('go', 'get install'),
  ...['go mod download', 'gem install', 'bundle install', 'composer install', 'composer require', 'brew install'],
  ...of('poetry uv pdm conda mamba', 'install add sync lock update'),
  ...of('apt apt-get dnf yum apk pacman zypper snap', 'install update upgrade add'),
];

function of(programs: string, subcommands: string): readonly string[] {
  return programs.split(' ').flatMap((program) => subcommands.split(' ').map((each) => `${program} ${each}`));
}
