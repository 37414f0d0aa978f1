import { entry } from "./entry.ts";
import { printable, quote } from "./text.ts";

/** Faults met where packs are looked for in a registry, added and removed. */
export const remoteProblems = {
  RegistryUnavailable: entry<{
    /** Its address, without credentials. */
    registry: string;
    /** Goes on from the address, without a full stop. */
    reason: string;
    /** There is an answer all the same, from the cache or a part of it. */
    answered?: boolean;
  }>({
    title: "The registry does not answer as it should",
    severity: (_context, { answered }) => (answered ? "warning" : "error"),
    message: ({ registry, reason, answered }) =>
      `The registry ${quote(registry, 200)} ${printable(reason)}.${answered ? " The answer may be old or incomplete." : ""}`,
    hint: ({ answered }) =>
      answered
        ? "Try again later; --refresh asks for everything anew."
        : "`npm ping` tells whether npm itself reaches it with your configuration.",
  }),
  UnsupportedSpec: entry<{ spec: string; reason: string; isRemoval?: boolean }>({
    title: "Only packages of a registry can be added",
    severity: "error",
    message: ({ spec, reason, isRemoval }) =>
      `${quote(spec)} cannot be ${isRemoval ? "removed" : "added"}: ${printable(reason)}.`,
    hint: ({ isRemoval }) =>
      isRemoval
        ? 'Name an installed pack: "name" or "@publisher/name". `trailblaze list` shows them.'
        : 'Name a package of the registry: "name", "name@tag", "name@1.2.3" or "name@^1.2".',
  }),
  InstallFailed: entry<{
    /** What was to be done, as `add @acme/jira`. */
    what: string;
    /** Goes on from a colon, without a full stop. */
    reason: string;
    /** Whether everything is as it was; `undefined` where nothing had been touched. */
    restored?: boolean;
    hint?: string;
  }>({
    title: "Packs could not be added or removed",
    severity: "error",
    message: ({ what, reason, restored }) => {
      const after =
        restored === undefined
          ? "Nothing was changed."
          : restored
            ? "Everything is as it was."
            : "package.json and the lockfile are as they were, but what is installed may not be.";
      return `Trailblaze could not ${printable(what)}: ${printable(reason)}. ${after}`;
    },
    hint: ({ hint, restored }) =>
      hint ?? (restored === false ? "Run the install of your package manager again." : undefined),
  }),
};
