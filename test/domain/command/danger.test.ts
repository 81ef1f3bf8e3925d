import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDangerous } from '../../../src/domain/command/danger.ts';
import { hostile } from '../outcome/hostile.ts';

describe('a command that is evidence by itself', () => {
  it.each<[unknown]>([
    ['sudo rm -rf /'],
    ['sudo rm -fr /'],
    ['rm -r -f /'],
    ['rm --recursive --no-preserve-root /'],
    ['rm -rf /*'],
    ['rm -rf //tmp/../'],
    ['rm -rf ~'],
    ['rm -rf "$HOME"/*'],
    ['rm -rf /etc'],
    ['cd / && rm -rf /usr'],
    ['a & sudo rm -rf /'],
    ['(sudo rm -rf /)'],
    ['FOO=1 sudo rm -rf /'],
    ['timeout 5 sudo rm -rf /'],
    ["bash -c 'sudo rm -rf /'"],
    ["$'sudo' rm -rf /"],
    ['{sudo,rm,-rf,/}'],
    ['find /x -exec sudo rm -rf /etc \\;'],
    ['sudo rm -rf /etc/nginx'],
    ['sudo rm -f /etc/passwd'],
    ['sudo rm -rf /home/user'],
    ['sudo rm -rf /opt/app'],
    ['cd / && sudo rm -rf *'],
    ['sudo rm -rf .'],
    ['sudo find / -delete'],
    ['find /etc -exec rm -rf {} +'],
    ['doas rm -rf /usr/share'],
    ['sudo rm -rf /var/lib'],
    ['sudo chmod -R 777 /'],
    ['chown -R me /etc'],
    ['mkfs.ext4 /dev/sda1'],
    ['sudo dd if=/dev/zero of=/dev/nvme0n1'],
    ['cat x > /dev/sda'],
    ['sudo wipefs -a /dev/sda'],
    ['sudo shutdown -h now'],
    ['sudo systemctl poweroff'],
    [':(){ :|:& };:'],
    ['bomb() { bomb | bomb & }; bomb'],
    [['sudo', 'rm', '-rf', '/']],
  ])('%j', (command) => {
    expect(isDangerous(command)).toBe(true);
  });

  it.each<[unknown]>([
    ['rm /protected/file'],
    ['rm -rf node_modules'],
    ['rm -rf ./build /tmp/x'],
    ['rm -rf "$DIR/"'],
    ['rm /'],
    ['sudo rm -rf /usr/local/go'],
    ['sudo rm -rf /tmp/build'],
    ['sudo rm -rf node_modules'],
    ['find . -name x -delete'],
    ['sudo rm -rf /var/lib/apt/lists/*'],
    ['sudo rm -rf /home/me/project'],
    ['sudo apt-get install x'],
    ['echo "sudo rm -rf /"'],
    ["git commit -m 'sudo rm -rf /'"],
    ["grep -r 'rm -rf /' ."],
    ['cat <<EOF\nsudo rm -rf /\nEOF'],
    ['terraform plan'],
    ['dd if=a of=b'],
    ['echo x > /dev/null'],
    ['mkfs.ext4 disk.img'],
    ['shutdown'],
    ['chmod -R 755 ./dist'],
    ['fib() { echo $(( $(fib 1) + $(fib 2) )); }; fib'],
    ['retry() { "$@" || retry "$@"; }; retry x'],
    [''],
    [undefined],
  ])('but not %j', (command) => {
    expect(isDangerous(command)).toBe(false);
  });

  it('anything can be asked', () => {
    fc.assert(fc.property(hostile, (command) => void isDangerous(command())));
  });
});
