import { entry, entryOf } from "./entry.ts";

/** Problems in installing a server into an MCP client's config. */
export const installProblems = {
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
  /** `isImport`: the file was to be read, not edited. */
  ClientConfigMalformed: entry({
    message: 'Cannot edit "{file:400}": {reason}.',
    hint: "Nothing was written. Correct the file and try again.",
    when: { isImport: { message: 'Cannot import "{file:400}": {reason}.' } },
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
    message: '"{file:400}" already has an entry "{key}" that Trailblaze did not write.',
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
      owner: {
        message:
          '"{file:400}" already has an entry "{key}", which starts "{owner:200}"[ in the project "{project:400}"].',
      },
      "owner=null": {
        message:
          '"{file:400}" already has an entry "{key}", which starts the session[ in the project "{project:400}"].',
      },
    },
  }),
  /** `byHand`: the entry to paste, or what else to do in the file. */
  ClientConfigUnwritable: entry({
    message: 'Cannot write "{file:400}": {reason}.',
    hint: "The file was not changed. Check the permissions of the file and its folder, and the free disk space.",
    when: { byHand: { hint: "The file was not changed. Edit it by hand: {byHand:lines}" } },
  }),
};
