import type { ApprovalState } from './approval.ts';
import type { GrantTerms } from './grant.ts';

/** What is known of the last time the same question was asked. Times are the database's. */
export interface Earlier {
  readonly status: ApprovalState['status'];
  readonly holdsUntil: number | null;
  readonly grant: {
    readonly kind: GrantTerms['kind'];
    readonly givenAt: number;
    readonly until: number | null;
    readonly consumedBy: string | null;
    readonly isRevoked: boolean;
    /** The call that used it up has been reported: it ran. */
    readonly hasRun: boolean;
  } | null;
}

/**
 * Whether an earlier question answers this call, by being open or decided. A grant that another call has used up, that
 * ended, or that is older than what is held against the tool now, does not; nor does a denial that has lapsed.
 */
export function stillAnswers(
  { status, holdsUntil, grant }: Earlier,
  call: { readonly id: string; readonly heldSince: number; readonly now: number },
): boolean {
  switch (status) {
    case 'pending':
      return true;
    case 'denied':
      return holdsUntil !== null && holdsUntil > call.now;
    case 'expired':
    case 'withdrawn':
      return false;
    case 'approved': {
      if (grant === null || grant.isRevoked) return false;
      if (grant.givenAt < call.heldSince) return false;
      // Whoever used it up may have it again: it died before it could run.
      if (grant.consumedBy !== null) return grant.consumedBy === call.id && !grant.hasRun;
      return grant.until === null || grant.until > call.now;
    }
  }
}
