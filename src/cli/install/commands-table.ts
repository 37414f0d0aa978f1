import type { CommandDescription, OptionDescription } from "../command.ts";
import { installOption } from "../session/session-options-table.ts";

const place: Readonly<Record<string, OptionDescription>> = {
  scope: {
    type: "string",
    placeholder: "SCOPE",
    description: "Config to edit: user (default), or project for the config in the project folder",
  },
  file: { type: "string", placeholder: "PATH", description: "Edit this file instead of the client's config" },
  name: { type: "string", placeholder: "KEY", description: "Name of the entry in the client's config" },
  "dry-run": { type: "boolean", description: "Show the changes without making them" },
};

/** The commands that edit or read MCP clients' configs. */
export const installCommands: Readonly<Record<string, CommandDescription>> = {
  import: {
    summary: "Add the servers of an MCP client, a file or stdin (-) to the project's config",
    usage: "<client|file|->",
    positionals: [1, 1],
    options: {
      only: {
        type: "string",
        multiple: true,
        placeholder: "NAME",
        description: "Import only this server (repeatable)",
      },
      replace: { type: "boolean", description: "Replace servers that the config already has" },
      scope: {
        type: "string",
        placeholder: "SCOPE",
        description: "Config to read: user (default), or project for the config in the project folder",
      },
      "dry-run": { type: "boolean", description: "Show the changes without making them" },
    },
    load: () => import("../commands/import.ts"),
  },
  install: {
    summary: "Add the project's session, or a single server, to an MCP client's config",
    usage: "<client> [server|pack] | [server|pack] --all",
    positionals: [0, 2],
    options: {
      ...place,
      all: { type: "boolean", description: "Install into every detected client" },
      env: {
        type: "string",
        multiple: true,
        placeholder: "NAME[=VALUE]",
        description:
          "Set an environment variable; without =VALUE, its value stays out of the file (repeatable)",
      },
      url: {
        type: "string",
        placeholder: "URL",
        description: "Connect to a server that already runs at this URL",
      },
      header: {
        type: "string",
        multiple: true,
        placeholder: "NAME=VALUE",
        description:
          "Send this HTTP header to the URL, such as Authorization; its value is not printed (repeatable)",
      },
      force: {
        type: "boolean",
        description: "Replace an entry that Trailblaze did not write; a backup is kept",
      },
      ...installOption,
    },
    load: () => import("../commands/install.ts"),
  },
  uninstall: {
    summary: "Remove the project's session, or a single server, from an MCP client's config",
    usage: "<client> [server|pack] | [server|pack] --all",
    positionals: [0, 2],
    options: {
      ...place,
      all: { type: "boolean", description: "Uninstall from every detected client" },
      force: {
        type: "boolean",
        description: "Remove an entry that connects to a URL of another machine, too",
      },
    },
    load: () => import("../commands/uninstall.ts"),
  },
  clients: {
    summary: "List supported MCP clients",
    usage: "",
    positionals: [0, 0],
    options: {},
    load: () => import("../commands/clients.ts"),
  },
};
