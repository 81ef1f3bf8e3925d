import { describe, expect, test } from 'vitest';
import { whyNotPublic } from '../../../src/domain/network/address.ts';
import { readTarget } from '../../../src/domain/network/target.ts';

describe('an address is public', () => {
  test.each(['8.8.8.8', '1.1.1.1', '93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s',
    (address) => expect(whyNotPublic(address)).toBeUndefined(),
  );
  test.each(['::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'])('%s, which leads to 8.8.8.8', (address) =>
    expect(whyNotPublic(address)).toBeUndefined(),
  );
});

describe('an address is not public', () => {
  test.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'shared (carrier-grade NAT)'],
    ['100.100.100.200', 'shared (carrier-grade NAT)'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'link-local'],
    ['168.63.129.16', "the cloud platform's own"],
    ['192.0.0.192', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:a9fe:a9fe', 'link-local'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['64:ff9b::a9fe:a9fe', 'link-local'],
    ['64:ff9b:1::808:808', 'reserved'],
    ['2002:7f00:1::', 'loopback'],
    ['2002:a00:1::1', 'private'],
    ['2001::1', 'tunnelled'],
    ['2001:db8::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'private'],
    ['ff02::1', 'multicast'],
    ['100::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['localhost', 'not an address'],
    ['', 'not an address'],
  ])('%s: %s', (address, why) => expect(whyNotPublic(address)).toBe(why));
});

describe('a target', () => {
  test.each([
    ['file:///etc/passwd', 'file: is neither'],
    ['gopher://127.0.0.1:70/_x', 'gopher: is neither'],
    ['javascript:alert(1)', 'javascript: is neither'],
    ['http://user:secret@example.com/', 'it holds credentials'],
    ['http://user@example.com/', 'it holds credentials'],
    ['not a url', 'it is no URL: one begins with https://'],
    ['/relative', 'it is no URL: one begins with https://'],
    ['http://localhost./', 'ends in a dot'],
    ['http://example.com../', 'ends in a dot'],
    ['http://2130706433/', '127.0.0.1, spelled another way'],
    ['http://134744072/', '8.8.8.8, spelled another way'],
    ['http://134744072/?8.8.8.8', '8.8.8.8, spelled another way'],
    ['http://0177.0.0.1/', '127.0.0.1, spelled another way'],
    ['http://0x7f.1:80/', '127.0.0.1, spelled another way'],
    ['http://127.1/', '127.0.0.1, spelled another way'],
    ['http://①②⑦.0.0.1/', '127.0.0.1, spelled another way'],
    ['http://127.0.0.1./', '127.0.0.1, spelled another way'],
    ['http://127.0.0.1:5432/', '127.0.0.1 is a loopback address'],
    ['http://169.254.169.254/latest/meta-data', '169.254.169.254 is a link-local address'],
    ['http://[::1]/', '::1 is a loopback address'],
    ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1 is a private address'],
    [`http://example.com/${'x'.repeat(5000)}`, 'too long'],
  ])('%s is refused', (url, because) => {
    expect(readTarget(url)).toMatchObject({ ok: false, because: expect.stringContaining(because) as string });
  });

  test.each([
    'https://example.com/a?b#c',
    'http://8.8.8.8:8080/',
    'HTTP://8.8.8.8',
    'https://[2606:4700::1111]:8443/x',
  ])('%s is taken', (url) => expect(readTarget(url)).toMatchObject({ ok: true }));

  test('may be private where that is allowed, and still not be spelled oddly or hold credentials', () => {
    expect(readTarget('http://127.0.0.1:1/', { allowPrivate: true }).ok).toBe(true);
    expect(readTarget('http://2130706433/', { allowPrivate: true }).ok).toBe(false);
    expect(readTarget('http://a:b@127.0.0.1/', { allowPrivate: true }).ok).toBe(false);
  });
});
