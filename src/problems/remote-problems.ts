import { entry } from "./entry.ts";
import { listOf, printable, quote } from "./text.ts";

/** Whether everything was undone, or without node_modules (`false`), or nothing; `undefined` if nothing was changed. */
type Restored = boolean | "nothing" | undefined;

/** The state of a project after a failed installation. */
function describeState(restored: Restored): string {
  if (restored === undefined) return "Nothing was changed.";
  if (restored === "nothing") return "package.json or a lockfile could not be restored.";
  return restored
    ? "All changes were undone."
    : "package.json and the lockfile were restored, but node_modules may have changed.";
}

/** Problems in searching a registry and in adding and removing packs. */
export const remoteProblems = {
  RegistryUnavailable: entry<{
    /** Its address, without credentials. */
    registry: string;
    /** Continues after the address, without a period. */
    reason: string;
    /** There is an answer anyway: from the cache, or incomplete. */
    answered?: boolean;
    /** Lines of the project's .npmrc with credentials that were not sent, because no file of the user names the registry. */
    withheld?: readonly string[];
  }>({
    title: "Registry is unavailable",
    severity: (_context, { answered }) => (answered ? "warning" : "error"),
    message: ({ registry, reason, answered }) =>
      `Registry ${quote(registry, 200)} ${printable(reason)}.${answered ? " Results may be outdated or incomplete." : ""}`,
    hint: ({ answered, withheld = [] }) =>
      withheld.length > 0
        ? `If you trust this project with these credentials, add them to the .npmrc in your home folder: ${listOf(withheld.map(printable), "and")}`
        : answered
          ? "Try again later."
          : "Run `npm ping` to check whether npm can reach it with your configuration.",
  }),
  UnsupportedSpec: entry<{ spec: string; reason: string; isRemoval?: boolean }>({
    title: "Unsupported package specifier",
    severity: "error",
    message: ({ spec, reason, isRemoval }) =>
      `Cannot ${isRemoval ? "remove" : "add"} ${quote(spec)}: ${printable(reason)}.`,
    hint: ({ isRemoval }) =>
      isRemoval
        ? 'Pass the name of an installed pack: "name" or "@publisher/name". Run `trailblaze list` to see them.'
        : 'Pass a package from the registry: "name", "name@tag", "name@1.2.3" or "name@^1.2".',
  }),
  ReservedCommand: entry<{
    /** Name and version of the package; `undefined` for the pack that is being validated. */
    package?: string | undefined;
    command: string;
    /** The requested change, such as `add @acme/jira`. */
    what?: string;
    restored?: Restored;
  }>({
    title: "Package overrides a command that Trailblaze relies on",
    severity: "error",
    message: ({ package: name, command, what, restored }) => {
      const subject = name === undefined ? "The pack" : printable(name);
      const claim = `${subject} provides a command ${quote(command)}, which overrides \`npx trailblaze\`.`;
      if (what === undefined) return claim;
      return `Refused to ${printable(what)}: ${claim} ${describeState(restored)}`;
    },
    hint: ({ package: name }) =>
      name === undefined
        ? 'Rename the command in "bin".'
        : "Do not install this package. Report it to the registry.",
  }),
  SimilarName: entry<{ name: string; existing: string; allowed: boolean }>({
    title: "Pack name is very similar to another pack's name",
    severity: (_context, { allowed }) => (allowed ? "warning" : "error"),
    message: ({ name, existing, allowed }) =>
      `The name ${quote(name, 214)} is very similar to ${quote(existing, 214)}, which this project already uses.` +
      (allowed ? "" : " Nothing was changed."),
    hint: ({ allowed }) =>
      allowed
        ? "Check the spelling."
        : "Check the spelling. If the name is correct, pass --allow-similar to `trailblaze add`.",
  }),
  InstallFailed: entry<{
    /** The requested change, such as `add @acme/jira`. */
    what: string;
    /** Continues after a colon, without a period. */
    reason: string;
    restored?: Restored;
    /** The last lines of the package manager. `formatProblem` shows them below the message. */
    output?: readonly string[];
    hint?: string;
  }>({
    title: "Installation failed",
    severity: "error",
    message: ({ what, reason, restored }) =>
      `Failed to ${printable(what)}: ${printable(reason)}. ${describeState(restored)}`,
    hint: ({ hint, restored }) => {
      if (restored === "nothing") return "Restore package.json and the lockfile, for example with git.";
      return hint ?? (restored === false ? "Run your package manager's install command again." : undefined);
    },
  }),
};
