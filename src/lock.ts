export {
  type ApprovalChange,
  type ApprovalOptions,
  type ApprovalPlan,
  type ApprovalResult,
  applyApproval,
  type DiffOptions,
  diffLock,
  type LockDifference,
  planApproval,
} from "./approval/approve.ts";
export type { LockDifferenceEntry } from "./lock/difference.ts";
export type { Json, LockedItem, LockedKind } from "./lock/json.ts";
export type { LockPlace } from "./lock/parts.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
export type { RemoteAddress, StartedCommand } from "./session/session-options.ts";
