import type { OptionDescription } from "../command.ts";
import { flag, text, texts } from "../options.ts";

type Options = Readonly<Record<string, OptionDescription>>;

export const configOption: Options = {
  config: text("FILE", "Use this config file instead of the project's"),
};

/** The options of every command that opens a session. */
export const sessionOptions: Options = {
  platform: text("NAME", "Platform of the device: IOS, ANDROID or WEB"),
  driver: text("NAME", "Driver of the device"),
  memory: texts("KEY=VALUE", "Set a value in the session's memory (repeatable)"),
  toolset: texts("NAME", "Offer only the tools of this toolset (repeatable)"),
  "on-device": flag("Exclude tools that require the agent to run on the host"),
  frozen: flag("Fail if what is installed differs from trailblaze.lock, or if there is none"),
  ...configOption,
};

/** The option of every command that can install the packs it needs. */
export const installOption: Options = { install: flag("Install missing packs first") };

/** The option of every command that can name tools and prompts as `start` does. */
export const servedOption: Options = {
  served: flag("Name tools as `start` does, with a prefix for names that several tools have"),
};

/** The options of the commands that decide when servers start. */
export const startOptions: Options = {
  lazy: flag("Start servers at the first call that needs them, if trailblaze.lock has their lists"),
  eager: flag("Start all servers at once"),
};
