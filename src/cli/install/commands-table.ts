import type { CommandDescription, OptionDescription } from "../command.ts";
import { installOption } from "../session/session-options-table.ts";

const place: Readonly<Record<string, OptionDescription>> = {
  scope: {
    type: "string",
    placeholder: "SCOPE",
    description:
      "user (default): the client's own config; project: a file in the project, for all who work on it",
  },
  file: { type: "string", placeholder: "PATH", description: "Edit this file instead of the client's own" },
  name: { type: "string", placeholder: "KEY", description: "The entry's name in the client's config" },
  "dry-run": { type: "boolean", description: "Show what would change, and change nothing" },
  all: { type: "boolean", description: "In every client that is here" },
};

/** The commands that write servers into MCP clients' configs. */
export const installCommands: Readonly<Record<string, CommandDescription>> = {
  install: {
    summary: "Write a server into an MCP client's config, so that the client starts it",
    usage: "<client> <server> | <server> --all",
    positionals: [1, 2],
    options: {
      ...place,
      env: {
        type: "string",
        multiple: true,
        placeholder: "NAME[=VALUE]",
        description: "Give the server a variable; without a value it stays out of the file; may be repeated",
      },
      url: {
        type: "string",
        placeholder: "URL",
        description: "Point to a server that is served there already, and start nothing",
      },
      force: {
        type: "boolean",
        description: "Replace an entry that is not ours; uninstalling brings it back",
      },
      ...installOption,
    },
    load: () => import("../commands/install.ts"),
  },
  uninstall: {
    summary: "Take a server out of an MCP client's config again",
    usage: "<client> <server> | <server> --all",
    positionals: [1, 2],
    options: {
      ...place,
      force: { type: "boolean", description: "Also take out an entry that was edited since" },
    },
    load: () => import("../commands/uninstall.ts"),
  },
  clients: {
    summary: "List the MCP clients that servers can be installed into",
    usage: "",
    positionals: [0, 0],
    options: {},
    load: () => import("../commands/clients.ts"),
  },
};
