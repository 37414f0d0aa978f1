import type { OptionDescription } from "../command.ts";

/** The options of every command that opens a session. */
export const sessionOptions: Readonly<Record<string, OptionDescription>> = {
  platform: {
    type: "string",
    placeholder: "NAME",
    description: "Platform of the device: IOS, ANDROID or WEB",
  },
  driver: { type: "string", placeholder: "NAME", description: "Driver of the device" },
  memory: {
    type: "string",
    multiple: true,
    placeholder: "KEY=VALUE",
    description: "Set a value in the session's memory (repeatable)",
  },
  toolset: {
    type: "string",
    multiple: true,
    placeholder: "NAME",
    description: "Offer only the tools of this toolset (repeatable)",
  },
  "on-device": { type: "boolean", description: "Exclude tools that require the agent to run on the host" },
  frozen: {
    type: "boolean",
    description: "Fail if what is installed differs from trailblaze.lock, or if there is none",
  },
  config: {
    type: "string",
    placeholder: "FILE",
    description: "Use this config file instead of the project's",
  },
};

/** The option of every command that can install the packs it needs. */
export const installOption: Readonly<Record<string, OptionDescription>> = {
  install: { type: "boolean", description: "Install missing packs first" },
};

/** The options of the commands that decide when servers start. */
export const startOptions: Readonly<Record<string, OptionDescription>> = {
  lazy: {
    type: "boolean",
    description: "Start servers at the first call that needs them, if trailblaze.lock has their lists",
  },
  eager: { type: "boolean", description: "Start all servers at once" },
};
