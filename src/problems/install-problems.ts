import { entry, entryOf, type Restored } from "./entry.ts";

export const installProblems = {
  // Configs of clients.
  UnknownClient: entry({
    message: 'Unknown MCP client "{name}".',
    hint: "Run `trailblaze clients` to list all clients.",
    when: {
      nearest: { hint: "Did you mean {nearest:or}? Run `trailblaze clients` to list all clients." },
    },
  }),
  UnknownInstallLocation: entry({
    message: "Unknown config location for {client}: {reason}.",
    hint: "Pass the config file with --file.",
  }),
  NoProjectScope: entry({
    message: "{client} does not read a config from the project folder.",
    hint: "Omit --scope to install for the user.",
  }),
  ClientConfigNotFound: entry({
    message: 'There is no file "{file:400}" to import servers from.',
    hint: "Check the path, or run `trailblaze clients` to see the files of all clients.",
  }),
  ClientConfigMalformed: entry({
    message: 'Cannot use "{file:400}": {reason}.',
    hint: "Nothing was written. Correct the file and try again.",
  }),
  ClientConfigConflict: entryOf<{
    file: string;
    key: string;
    /** The server that the entry starts, if Trailblaze wrote it; `null` for a project's session. */
    owner: string | null | undefined;
    /** The project of that server, if it is a different one. */
    project?: string | undefined;
    /** `file` is the folder of a skill: a copy that was edited, or no copy. */
    copy?: "edited" | "foreign";
  }>({
    message:
      '"{file:400}" already has another entry "{key}"[, which starts "{owner:200}"][ in the project "{project:400}"].',
    hint: "Choose another name with --name, or replace the entry with --force, which keeps a backup of the file.",
    when: {
      "copy=edited": {
        severity: "warning",
        message: '"{file:400}" was edited since Trailblaze copied it, and stays as it is.',
        hint: "Delete the folder to get a new copy.",
      },
      "copy=foreign": {
        severity: "warning",
        message: '"{file:400}" is not a copy that Trailblaze made, and stays as it is.',
        hint: "Move or delete the folder to get a copy of the skill of this name.",
      },
    },
  }),
  /** `byHand`: the entry to paste, or what else to do in the file. */
  ClientConfigUnwritable: entry({
    message: 'Cannot write "{file:400}": {reason}.',
    hint: "The file was not changed. Check the permissions of the file and its folder, and the free disk space.",
    when: { byHand: { hint: "The file was not changed. Edit it by hand: {byHand:lines}" } },
  }),

  // Registries, and packages from them.
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
  ReservedCommand: entry({
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
    message: 'The name "{name:214}" is very similar to "{existing:214}", which this project already uses.',
    hint: "Check the spelling. If the name is correct, pass --allow-similar to `trailblaze add`.",
    when: {
      allowed: { severity: "warning", hint: "Check the spelling." },
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
