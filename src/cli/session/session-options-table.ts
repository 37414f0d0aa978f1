import type { OptionDescription } from "../command.ts";

/** The options that `tools`, `call` and `run` share. */
export const sessionOptions: Readonly<Record<string, OptionDescription>> = {
  platform: {
    type: "string",
    placeholder: "NAME",
    description: "The device's platform: IOS, ANDROID or WEB",
  },
  driver: { type: "string", placeholder: "NAME", description: "The device's driver" },
  memory: {
    type: "string",
    multiple: true,
    placeholder: "KEY=VALUE",
    description: "Put a text into the session's memory; may be repeated",
  },
  toolset: {
    type: "string",
    multiple: true,
    placeholder: "NAME",
    description: "Show only the tools of this toolset; may be repeated",
  },
  "on-device": { type: "boolean", description: "The agent runs on the device, not on this host" },
  config: {
    type: "string",
    placeholder: "FILE",
    description: "Use this config file instead of the project's",
  },
};

/** What may install packs before it runs them. */
export const installOption: Readonly<Record<string, OptionDescription>> = {
  install: { type: "boolean", description: "Install packs that it refers to and that are missing" },
};
