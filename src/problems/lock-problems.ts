import { entry, entryOf } from "./entry.ts";

/** What the lock does not approve, and how to approve it. */
export interface NotApproved {
  /** The pack, the server of the config, or the item: `acme/jira`, `my-tools`, `acme/jira/createIssue`. */
  name: string;
  /**
   * `new`: the lock has no entry for it. `changed`: it differs from its entry. `unlisted`: things that a server lists
   * and that are not approved. `unrecordable`: invalid, or nested too deep. `denied`: refused by `trailblaze approve --deny`.
   */
  state: "new" | "changed" | "unlisted" | "unrecordable" | "denied";
  /** The keys that differ, such as `description` or `inputSchema.properties.body`; or the new items. */
  differences: readonly string[];
  /** What `trailblaze diff` shows it by. */
  entry: string;
}

/** Problems of trailblaze.lock: what differs from what was approved, and files that cannot be used. */
export const lockProblems = {
  NotApproved: entryOf<NotApproved>({
    severity: "warning",
    message: '"{name:200}" has changed since it was approved[: {differences:some}].',
    hint: "Run `trailblaze diff {entry:shell}` to see the difference, and `trailblaze approve {name:shell}` to accept it.",
    when: {
      "state=denied": { message: 'trailblaze.lock denies "{name:200}".' },
      "state=unrecordable": {
        message:
          'The definition of "{name:200}" is invalid or nested too deep, so trailblaze.lock cannot record it.',
        hint: "Add it to `lock.unlocked` in the config to use it without approval.",
      },
      "state=unlisted": {
        message: 'Not all that "{name:200}" lists is approved by trailblaze.lock: {differences:some}.',
      },
      "state=new": {
        message: '"{name:200}" is new[ ({differences:some})], and trailblaze.lock does not approve it.',
      },
    },
  }),
  /** `name`: a pack, a server, or an item. `reason` continues the sentence after it. */
  LockOutdated: entry({
    severity: "info",
    message: '"{name:200}" {reason:sentence}',
    hint: "Run `trailblaze diff` to see whether anything else differs.",
  }),
  NotLocked: entry({
    severity: "info",
    message: '"{name:200}" is used as installed, because `lock.unlocked` names it.',
  }),
  /** `names`: the packs, servers and items that differ. */
  LockMismatch: entry({
    message: "The installation differs from trailblaze.lock, which is frozen: {names:some}.",
    hint: "Run `trailblaze diff` to see the difference, then `trailblaze approve`, and commit the file.",
  }),
  LockMissing: entry({
    message: 'There is no "{file:400}".',
    hint: "Run `trailblaze approve --all` to create it, and commit it.",
  }),
  LockMalformed: entry({
    message: 'Cannot use "{file:400}": {reason}.',
    hint: "Restore it from version control, then run `trailblaze approve`.",
    when: { hint: { hint: "{hint}" } },
  }),
};
