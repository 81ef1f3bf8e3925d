import * as z from 'zod';

/** `audit` in surety.json. */
export const AuditSection = z.strictObject({
  fsync: z
    .enum(['always', 'never'])
    .default('always')
    .describe('always: a line is on the disk before its call is answered. never: when the system sees fit.'),
  maxFileBytes: z
    .int()
    .min(1024)
    .max(1_073_741_824)
    .default(67_108_864)
    .describe('A larger file is followed by a new one.'),
});
export type AuditSection = z.infer<typeof AuditSection>;
