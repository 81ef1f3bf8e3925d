import type { Meaning } from './codes.ts';

/**
 * What a message says, for failures that carry no number. The first match wins, so the order is a decision: what is
 * missing or forbidden comes first, because those messages name the thing that is missing or forbidden, and that name
 * may be any word ("security group not found", "crash report not found").
 */
const PATTERNS: readonly (readonly [RegExp, Meaning['severity'], Meaning['category']?])[] = [
  [
    /\bseg(?:mentation )?fault\b|\bcore dumped\b|\b(?:killed|terminated|aborted) by signal\b|\bSIG(?:SEGV|KILL|ABRT|BUS)\b/i,
    'crash',
  ],
  [/\bpanic(?:ked at\b|: )|\bout of memory\b|\boom[- ]?killed\b/i, 'crash'],
  [/^\W*killed\W*$|\bprocess (?:was |got )?(?:killed|terminated)\b/i, 'crash'],
  [
    /\bENOTFOUND\b|\bEAI_AGAIN\b|\bgetaddrinfo\b|\b(?:unknown host|name or service not known)\b/i,
    'server_error',
    'reachability',
  ],
  [/\bhost(?:name)? not found\b/i, 'not_found', 'reachability'],
  [
    /\b(?:could not|couldn't|cannot|can't|failed to|unable to) resolve host\b|\bname resolution\b/i,
    'server_error',
    'reachability',
  ],
  [
    /\bnot[ _-]?found\b|\bdo(?:es)?(?: not|n't) exist\b|\b(?:could not|couldn't|cannot|can't) find\b|\bno such \w+\b|\bENOENT\b/i,
    'not_found',
  ],
  // Text that says less than this ("checksum mismatch") may be about the input: it stays a failure that counts.
  [/\bdata corruption\b|\bintegrity (?:check|error|violation)\b|\bdisk image is malformed\b/i, 'corruption'],
  [/\bunauthori[sz]ed\b|\bunauthenticated\b|\bnot authenticated\b|\bbad credentials\b/i, 'permission', 'auth'],
  // What is invalid or lacking was given so; a credential that expired or was revoked will not work again by itself, and
  // that counts.
  [/\b(?:authentication|log ?in) required\b/i, 'invalid_input', 'auth'],
  [/\binvalid (?:\w+ )?(?:api[ _-]?key|credentials?|password|jwt)\b/i, 'invalid_input', 'auth'],
  // A parser's "invalid token at line 3" is no credential.
  [/\binvalid (?:\w+ )?token\b(?! (?:at|in|near|before|after|type|count|id)\b| ?['"<({])/i, 'invalid_input', 'auth'],
  [/\b(?:token|api[ _-]?key|credentials?|password)\b(?: \w+){0,6} invalid\b/i, 'invalid_input', 'auth'],
  [/\bauthentication (?:failed|failure|error)\b|\blog ?in failed\b/i, 'server_error', 'auth'],
  [
    /\b(?:incorrect|wrong|expired|missing|revoked|bad) (?:\w+ )?(?:api[ _-]?key|credentials?|password|jwt)\b/i,
    'server_error',
    'auth',
  ],
  [
    /\b(?:expired|missing|revoked|bad) (?:\w+ )?token\b(?! (?:at|in|near|before|after|type|count|id)\b| ?['"<({])/i,
    'server_error',
    'auth',
  ],
  [
    /\b(?:token|api[ _-]?key|credentials?|password)\b(?: \w+){0,6} (?:expired|revoked|incorrect|rejected|missing)\b/i,
    'server_error',
    'auth',
  ],
  [/\bpermission denied \((?:publickey|password|keyboard)/i, 'permission', 'auth'],
  [
    /\bpermission denied\b|\baccess(?: is)? denied\b|\bforbidden\b|\bnot authori[sz]ed\b|\bEACCES\b|\bEPERM\b/i,
    'permission',
  ],
  [
    /\boperation not permitted\b|\bread-only file system\b|\binsufficient (?:permissions?|privileges?|scope)\b/i,
    'permission',
  ],
  // "timeout must be a number" is about an argument.
  [
    /\btimed[- ]?out\b|\bdeadline exceeded\b|\bETIMEDOUT\b|(?<!(?:invalid|negative|unknown|missing) )\btime-?out\b(?! (?:must|should|is (?:required|not a)|value|option|parameter))/i,
    'timeout',
    'reachability',
  ],
  [
    /\b(?:server|transport|worker)(?: \w+){0,2} (?:died|is dead|exited|crashed|disconnected|terminated|is not running)\b/i,
    'crash',
    'reachability',
  ],
  [/\bprocess (?:has )?(?:died|is dead|is not running)\b|\bbroken pipe\b|\bEPIPE\b/i, 'crash', 'reachability'],
  [/\b(?:connection|transport|stream|socket)(?: \w+){0,2} closed\b/i, 'crash', 'reachability'],
  [
    /\bconnection (?:was )?(?:refused|reset|aborted|failed|lost)\b|\bECONN(?:REFUSED|RESET|ABORTED)\b|\bsocket hang up\b/i,
    'server_error',
    'reachability',
  ],
  [
    /\b(?:could not|couldn't|cannot|can't|failed to|unable to) (?:connect|reach)\b|\bfetch failed\b|\bnetwork error\b/i,
    'server_error',
    'reachability',
  ],
  [
    /\bunreachable\b|\bno route to host\b|\bbad gateway\b|\bservice unavailable\b|\b(?:host|server|upstream|service) is down\b/i,
    'server_error',
    'reachability',
  ],
  [
    /\bself[- ]signed certificate\b|\bcertificate (?:has expired|verify failed)\b|\b(?:tls|ssl) handshake\b/i,
    'server_error',
    'reachability',
  ],
  [/\brate[ _-]?limit|\btoo many requests\b|\bquota\b|\bthrottl|\bEAGAIN\b|\bEBUSY\b/i, 'transient'],
  // "dependency injection failed" and "security group" are everyday words.
  [
    /\bmalicious\b|\bmalware\b|\bransomware\b|\bsecurity (?:breach|violation|alert|incident|threat|exploit)\b/i,
    'security',
  ],
  [
    /\b(?:sql|command|code|prompt|script|shell|ldap) injection\b|\binjection (?:attack|attempt|detected)\b|\b(?:path|directory) traversal\b|\bprivilege escalation\b/i,
    'security',
  ],
  [/\bcrash(?:ed|es|ing)?\b|\bexited unexpectedly\b|\bfatal signal\b/i, 'crash'],
  [
    /\b(?:schema|response|output) validation\b|\bschema (?:mismatch|violation|error)\b|\b(?:match|conform to) (?:the |its |output )?schema\b/i,
    'validation',
  ],
  [
    /\b(?:malformed|invalid) (?:response|reply|json|xml|yaml)\b|\bunexpected (?:token|end of (?:json|input|file))\b/i,
    'validation',
  ],
  [/(?<![a-z])invalid(?![a-z])|\brequired\b|\bmust (?:not )?be\b|\bexpected\b|\bbad request\b/i, 'invalid_input'],
  [
    /\bmissing (?:\w+ ){0,2}(?:field|param(?:eter)?|arg(?:ument)?|property|key|value|option|input)s?\b|\b(?:unknown|unrecognized|illegal) (?:option|argument|parameter|field|flag)\b/i,
    'invalid_input',
  ],
];

const REFUSALS = [
  /\b(?:blocked|refused|rejected|denied|disallowed|declined|cancell?ed|not (?:allowed|permitted))\b[^.\n]{0,40}\b(?:by|per) (?:\w+ ){0,2}(?:user|operator|human|polic(?:y|ies)|permissions?|admin(?:istrator)?|sandbox|hook|rule)s?\b/i,
  /\b(?:user|operator) (?:rejected|denied|declined|cancell?ed|refused)\b/i,
];

/** Whether somebody stopped the call before it ran: a person or a policy, not the tool. */
export function isRefusal(text: string): boolean {
  return REFUSALS.some((pattern) => pattern.test(text));
}

export function meaningOfText(text: string): Meaning | undefined {
  if (isRefusal(text)) return { severity: 'permission', category: 'refusal' };
  const found = PATTERNS.find(([pattern]) => pattern.test(text));
  return found && { severity: found[1], category: found[2] ?? 'quality' };
}
