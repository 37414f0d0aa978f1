import { entry, entryOf, type Restored } from "./entry.ts";

/** Problems in searching a registry and in adding and removing packs. */
export const remoteProblems = {
  /**
   * `registry` is its address, without credentials. `answered`: there is an answer anyway, from the cache, or incomplete.
   * `withheld` are lines of the project's .npmrc with credentials that were not sent, because no file of the user names
   * the registry.
   */
  RegistryUnavailable: entry({
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
    message: 'Cannot add "{spec}": {reason}.',
    hint: 'Pass a package from the registry: "name", "name@tag", "name@1.2.3" or "name@^1.2".',
    when: {
      isRemoval: {
        message: 'Cannot remove "{spec}": {reason}.',
        hint: 'Pass the name of an installed pack: "name" or "@publisher/name". Run `trailblaze list` to see them.',
      },
    },
  }),
  /** `package`: its name and version, unless it is the pack that is validated. `what`: the requested change, such as `add @acme/jira`. */
  ReservedCommand: entryOf<{
    package?: string | undefined;
    command: string;
    what?: string;
    restored?: Restored;
  }>({
    message: 'The pack provides a command "{command}", which overrides `npx trailblaze`.',
    hint: 'Rename the command in "bin".',
    when: {
      what: {
        message:
          'Refused to {what}: {package} provides a command "{command}", which overrides `npx trailblaze`. {restored:restored}',
      },
      package: {
        message: '{package} provides a command "{command}", which overrides `npx trailblaze`.',
        hint: "Do not install this package. Report it to the registry.",
      },
    },
  }),
  SimilarName: entry({
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
    message: "Failed to {what}: {reason}. {restored:restored}",
    when: {
      "restored=nothing": { hint: "Restore package.json and the lockfile, for example with git." },
      hint: { hint: "{hint}" },
      "restored=false": { hint: "Run your package manager's install command again." },
    },
  }),
};
