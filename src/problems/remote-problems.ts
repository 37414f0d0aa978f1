import { entry, warningForBystanders } from "./entry.ts";
import { printable, quote } from "./text.ts";

/** How a project is after an installation that failed; `restored` is `undefined` where nothing had been touched. */
function describeState(restored: boolean | undefined): string {
  if (restored === undefined) return "Nothing was changed.";
  return restored
    ? "Everything is as it was."
    : "package.json and the lockfile are as they were, but what is installed may not be.";
}

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
  ReservedCommand: entry<{
    /** Name and version of the package; `undefined` for the pack that is validated. */
    package?: string | undefined;
    command: string;
    /** The package that it installs in place of `trailblaze`. */
    alias?: string | undefined;
    /** What was to be done, as `add @acme/jira`. */
    what?: string;
    /** Whether everything is as it was; `undefined` where nothing had been touched. */
    restored?: boolean;
    hint?: string;
  }>({
    title: "A package takes over a command that Trailblaze relies on",
    severity: warningForBystanders,
    message: ({ package: name, command, alias, what, restored }) => {
      const subject = name === undefined ? "The pack" : printable(name);
      const claim =
        alias === undefined
          ? `${subject} has a command ${quote(command)}, which takes over \`npx trailblaze\`.`
          : `${subject} installs ${quote(alias)} under the name "trailblaze", which takes over \`npx trailblaze\`.`;
      if (what === undefined) return claim;
      return `Trailblaze did not ${printable(what)}: ${claim} ${describeState(restored)}`;
    },
    hint: ({ package: name, alias, hint }) => {
      if (hint !== undefined) return hint;
      if (name !== undefined) return "Do not install this package. Report it to the registry.";
      return alias === undefined
        ? 'Give the command another name in "bin".'
        : "Depend on `trailblaze` itself, or give the alias another name.";
    },
  }),
  SimilarName: entry<{ name: string; existing: string; allowed: boolean }>({
    title: "A pack's name is almost that of another pack",
    severity: (_context, { allowed }) => (allowed ? "warning" : "error"),
    message: ({ name, existing, allowed }) =>
      `${quote(name, 214)} is almost the name of ${quote(existing, 214)}, which this project has.` +
      (allowed ? "" : " Nothing was changed."),
    hint: ({ allowed }) =>
      allowed
        ? "Check the name."
        : "Check the name. If it is right, pass --allow-similar to `trailblaze add`.",
  }),
  RecentlyPublished: entry<{ name: string; version: string; age: string }>({
    title: "The version is less than 24 hours old",
    severity: "warning",
    message: ({ name, version, age }) => `${name} ${printable(version)} was published ${age}.`,
    hint: () =>
      "Most malicious versions are found and removed within a day. Wait, or review the package first.",
  }),
  InstallFailed: entry<{
    /** What was to be done, as `add @acme/jira`. */
    what: string;
    /** Goes on from a colon, without a full stop. */
    reason: string;
    /** Whether everything is as it was; `undefined` where nothing had been touched. */
    restored?: boolean;
    /** Where package.json and lockfiles are as they were, if they could not be written back. */
    copies?: readonly string[];
    hint?: string;
  }>({
    title: "Packs could not be added or removed",
    severity: "error",
    message: ({ what, reason, restored, copies }) => {
      const after = copies ? "package.json or a lockfile could not be restored." : describeState(restored);
      return `Trailblaze could not ${printable(what)}: ${printable(reason)}. ${after}`;
    },
    hint: ({ hint, restored, copies = [] }) => {
      if (copies.length > 0)
        return `Move these copies back: ${copies.map((copy) => quote(copy, 400)).join(", ")}.`;
      return hint ?? (restored === false ? "Run the install of your package manager again." : undefined);
    },
  }),
};
