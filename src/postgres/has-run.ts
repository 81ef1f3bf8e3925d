import { MOST_NAME_BYTES } from './intern.ts';

/**
 * The call that used the grant `g` up has been reported, by the agent it was granted to: what another says under the same
 * id is about a call of its own. Of a very long name the ledger keeps the beginning, which tells nothing.
 */
export const HAS_RUN = `exists (select 1 from ledger l left join name n on n.id = l.agent where l.id = g.consumed_by
  and (n.text is not distinct from g.agent or octet_length(g.agent) > ${MOST_NAME_BYTES}))`;
