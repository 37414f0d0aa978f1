import { entry, entryOf } from "./entry.ts";
import { printable, quote } from "./text.ts";

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
  /**
   * `registry` is its address, without credentials. `answered`: there is an answer anyway, from the cache, or incomplete.
   * `withheld` are lines of the project's .npmrc with credentials that were not sent, because no file of the user names
   * the registry.
   */
  RegistryUnavailable: entry({
    title: "Registry is unavailable",
    severity: "error",
    message: 'Registry "{registry:200}" {reason}.',
    hint: "Run `npm ping` to check whether npm can reach it with your configuration.",
    when: {
      withheld: {
        hint: "If you trust this project with these credentials, add them to the .npmrc in your home folder: {withheld:and}",
      },
      answered: {
        severity: "warning",
        message: 'Registry "{registry:200}" {reason}. Results may be outdated or incomplete.',
        hint: "Try again later.",
      },
    },
  }),
  UnsupportedSpec: entry({
    title: "Unsupported package specifier",
    severity: "error",
    message: 'Cannot add "{spec}": {reason}.',
    hint: 'Pass a package from the registry: "name", "name@tag", "name@1.2.3" or "name@^1.2".',
    when: {
      isRemoval: {
        message: 'Cannot remove "{spec}": {reason}.',
        hint: 'Pass the name of an installed pack: "name" or "@publisher/name". Run `trailblaze list` to see them.',
      },
    },
  }),
  ReservedCommand: entryOf<{
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
    hint: 'Rename the command in "bin".',
    when: { package: { hint: "Do not install this package. Report it to the registry." } },
  }),
  SimilarName: entry({
    title: "Pack name is very similar to another pack's name",
    severity: "error",
    message:
      'The name "{name:214}" is very similar to "{existing:214}", which this project already uses. Nothing was changed.',
    hint: "Check the spelling. If the name is correct, pass --allow-similar to `trailblaze add`.",
    when: {
      allowed: {
        severity: "warning",
        message:
          'The name "{name:214}" is very similar to "{existing:214}", which this project already uses.',
        hint: "Check the spelling.",
      },
    },
  }),
  InstallFailed: entryOf<{
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
