import { entry, entryOf } from "./entry.ts";
import { endSentence, listOf, printable, quote, quoteForShell } from "./text.ts";

/** The first names, and how many others there are. */
const listSome = (names: readonly string[], most = 5): string =>
  listOf(
    names.length > most + 1
      ? [...names.slice(0, most).map(printable), `${names.length - most} others`]
      : names.map(printable),
    "and",
  );

/** What the lock does not approve, and how to approve it. */
export interface NotApproved {
  /** The pack, the server of the config, or the item: `acme/jira`, `my-tools`, `acme/jira/createIssue`. */
  name: string;
  /**
   * `new`: the lock has no entry for it. `changed`: it differs from its entry. `unlisted`: the tools of a server that were
   * never approved. `unrecordable`: invalid, or nested too deep. `denied`: refused by `trailblaze approve --deny`.
   */
  state: "new" | "changed" | "unlisted" | "unrecordable" | "denied";
  /** The keys that differ, such as `description` or `inputSchema.properties.body`; or the new items. */
  differences: readonly string[];
  /** What `trailblaze diff` shows it by. */
  entry: string;
  /** What of the server is new or has changed, instead of all of it. */
  list?: "tools" | "prompts" | "resources";
}

const notApproved = ({ name, state, differences, list }: NotApproved): string => {
  const what = quote(name, 200);
  if (state === "denied") return `trailblaze.lock denies ${what}`;
  if (state === "unrecordable")
    return `The definition of ${what} is invalid or nested too deep, so trailblaze.lock cannot record it`;
  if (list !== undefined) {
    return `Some ${list} of ${what} are not approved by trailblaze.lock, or have changed: ${listSome(differences)}`;
  }
  if (state === "unlisted") return `The tools of ${what} have not been approved yet`;
  if (state === "new") {
    const items = differences.length > 0 ? ` (${listSome(differences)})` : "";
    return `${what} is new${items}, and trailblaze.lock does not approve it`;
  }
  const keys = differences.length > 0 ? `: ${listSome(differences)}` : "";
  return `${what} has changed since it was approved${keys}`;
};

/** Problems of trailblaze.lock: what differs from what was approved, and files that cannot be used. */
export const lockProblems = {
  NotApproved: entryOf<NotApproved>({
    title: "Item is not approved by trailblaze.lock",
    severity: "warning",
    message: (args) => `${notApproved(args)}.`,
    hint: ({ name, state, entry: shown }) =>
      state === "unrecordable"
        ? "Add it to `lock.unlocked` in the config to use it without approval."
        : `Run \`trailblaze diff ${quoteForShell(printable(shown))}\` to see the difference, and \`trailblaze approve ${quoteForShell(printable(name))}\` to accept it.`,
  }),
  LockOutdated: entryOf<{
    /** A pack, a server, or an item. */
    name: string;
    /** Continues the sentence after the name. */
    reason: string;
  }>({
    title: "Entry of trailblaze.lock is outdated",
    severity: "info",
    message: ({ name, reason }) => `${quote(name, 200)} ${endSentence(printable(reason))}`,
    hint: "Run `trailblaze diff` to see whether anything else differs.",
  }),
  NotLocked: entry({
    title: "Item is used without approval",
    severity: "info",
    message: '"{name:200}" is used as installed, because `lock.unlocked` names it.',
  }),
  LockMismatch: entryOf<{
    /** What differs: packs, servers and items. */
    names: readonly string[];
  }>({
    title: "Installation differs from trailblaze.lock",
    severity: "error",
    message: ({ names }) =>
      `The installation differs from trailblaze.lock, which is frozen: ${listSome(names, 10)}.`,
    hint: "Run `trailblaze diff` to see the difference, then `trailblaze approve`, and commit the file.",
  }),
  LockMissing: entry({
    title: "There is no trailblaze.lock",
    severity: "error",
    message: 'There is no "{file:400}".',
    hint: "Run `trailblaze approve --all` to create it, and commit it.",
  }),
  LockMalformed: entry({
    title: "File trailblaze.lock cannot be used",
    severity: "error",
    message: 'Cannot use "{file:400}": {reason}.',
    hint: "Restore it from version control, then run `trailblaze approve`.",
    when: { hint: { hint: "{hint}" } },
  }),
};
