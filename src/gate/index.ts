export { connect } from './connect.ts';
export type { ConnectOptions } from './connect.ts';
export {
  ApprovalRequired,
  BufferFull,
  CallDenied,
  InvalidReport,
  NotApproved,
  NotRecorded,
  NotShowable,
} from './errors.ts';
export { TooManyQuestions } from '../domain/approval/too-many-questions.ts';
export type { GateEvents, TrustChange } from './events.ts';
export type { Call, Gate, Question } from './gate.ts';
export type { GuardContext, GuardOptions, Leave } from './guard.ts';
export type { Pressure } from './reporter.ts';
export type { CallContext, ToolGate } from './tool-gate.ts';
export type { Asked } from '../postgres/approval-ask.ts';
export type { Report } from '../domain/outcome/report.schema.ts';
export type { Allow, Ask, Decision, Deny, Escalation } from '../domain/gate/decision.ts';
