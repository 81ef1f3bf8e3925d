import ipaddr from 'ipaddr.js';

/** What ipaddr.js calls a range, for a sentence. Whatever it does not name here is reserved for something else. */
const WORDS: Readonly<Record<string, string>> = {
  unspecified: 'unspecified',
  broadcast: 'broadcast',
  multicast: 'multicast',
  linkLocal: 'link-local',
  loopback: 'loopback',
  carrierGradeNat: 'shared (carrier-grade NAT)',
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  teredo: 'tunnelled',
};
const RESERVED = 'reserved';

/** Only this block has been given out as public; the rest of IPv6 is special or belongs to nobody yet. */
const GIVEN_OUT: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/** A public number by which Azure's machines reach their own platform, credentials and all. */
const PLATFORMS_OWN = new Set(['168.63.129.16']);

/**
 * Why an address is nowhere to go for somebody who may only reach the public internet; undefined where it is public. An
 * IPv4 address inside an IPv6 one is judged as itself, since that is where it leads.
 */
export function whyNotPublic(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return 'not an address';
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return whyNotPublicV4(parsed);
  const embedded = embeddedIn(parsed);
  if (embedded !== undefined) return whyNotPublicV4(embedded);
  const range = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? RESERVED;
  return parsed.match(GIVEN_OUT) ? undefined : RESERVED;
}

function whyNotPublicV4(address: ipaddr.IPv4): string | undefined {
  if (PLATFORMS_OWN.has(address.toString())) return "the cloud platform's own";
  const range = address.range();
  return range === 'unicast' ? undefined : (WORDS[range] ?? RESERVED);
}

/** Mapped, NAT64 and 6to4: a gateway, or the system itself, takes the packet to the IPv4 address inside. */
function embeddedIn(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  return address.range() === '6to4' ? new ipaddr.IPv4(bytes.slice(2, 6)) : undefined;
}
