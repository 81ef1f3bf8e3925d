import { isAbout } from './about.ts';
import type { AskedAbout, HeldNow } from './about.ts';
import type { ApprovalState } from './approval.ts';
import type { GrantTerms } from './grant.ts';

/** What is known of the last time the same question was asked. Times are the database's. */
export interface Earlier {
  readonly status: ApprovalState['status'];
  readonly about: AskedAbout;
  readonly holdsUntil: number | null;
  readonly grant: {
    readonly kind: GrantTerms['kind'];
    readonly until: number | null;
    readonly consumedBy: string | null;
    readonly isRevoked: boolean;
    /** The call that used it up has been reported: it ran. */
    readonly hasRun: boolean;
  } | null;
}

/**
 * Whether an earlier question answers this call, by being open or decided. A grant that another call has used up, that
 * ended, or whose question was not about what is held now, does not; nor does a denial that has lapsed.
 */
export function stillAnswers(
  { status, about, holdsUntil, grant }: Earlier,
  call: { readonly id: string; readonly held: HeldNow; readonly now: number },
): boolean {
  switch (status) {
    case 'pending':
      return isAbout(about, call.held);
    case 'denied':
      return holdsUntil !== null && holdsUntil > call.now;
    case 'expired':
    case 'withdrawn':
      return false;
    case 'approved': {
      if (grant === null || grant.isRevoked) return false;
      if (!isAbout(about, call.held)) return false;
      // Whoever used it up may have it again: it died before it could run.
      if (grant.consumedBy !== null) return grant.consumedBy === call.id && !grant.hasRun;
      return grant.until === null || grant.until > call.now;
    }
  }
}
