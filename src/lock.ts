export { type ApprovalResult, applyApproval } from "./approval/apply-approval.ts";
export type { ApprovalChange } from "./approval/apply-changes.ts";
export type { ApprovalPlan } from "./approval/approval-plan.ts";
export { type DiffOptions, diffLock, type LockDifference } from "./approval/diff-lock.ts";
export { type ApprovalOptions, planApproval } from "./approval/plan-approval.ts";
export type {
  EntryChange,
  FieldChange,
  ItemChange,
  Json,
  LockedItem,
  LockedKind,
} from "./lock/types.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
export type { RemoteAddress, StartedCommand } from "./session/session-options.ts";
