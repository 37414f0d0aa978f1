import { printable } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import type { Session } from "../../session/session.ts";
import {
  type CommandSessionOptions,
  formatWaiting,
  type SessionOptions,
} from "../../session/session-options.ts";
import type { CommandInput } from "../command.ts";
import { catchSignals } from "../interruption.ts";
import { configOption, flag, installOption, text, texts } from "../options.ts";
import { output } from "../output.ts";
import { splitPair } from "./read-arguments.ts";

/** The options of every command that opens a session. */
export const sessionOptions = {
  platform: text("NAME", "Platform of the device: IOS, ANDROID or WEB"),
  driver: text("NAME", "Driver of the device"),
  memory: texts("KEY=VALUE", "Set a value in the session's memory (repeatable)"),
  toolset: texts("NAME", "Offer only the tools of this toolset (repeatable)"),
  "on-device": flag("Exclude tools that need an agent on the host"),
  frozen: flag("Fail unless trailblaze.lock approves what is installed"),
  ...configOption,
};

export const callOptions = {
  served: flag("Name tools as `start` does, with prefixes where names collide"),
  ...installOption,
  ...sessionOptions,
};

export const startOptions = {
  lazy: {
    ...flag("Start servers when a call needs them, if trailblaze.lock has their lists"),
    excludes: ["eager"],
  },
  eager: flag("Start all servers at once"),
};

/** The command line of a command that opens a session: some have not all of these options. */
type SessionInput = CommandInput<Partial<typeof callOptions & typeof startOptions>>;

export const serverNotes = {
  onCommand: ({ label, command, args }) =>
    output.note(printable(`Starting ${label}: ${[command, ...args].map(quoteForShell).join(" ")}`)),
  onConnect: ({ label, url }) => output.note(printable(`Connecting to ${label}: ${url}`)),
  onWait: (server) => output.note(formatWaiting(server)),
} satisfies SessionOptions;

export const readSessionOptions = (input: SessionInput): SessionOptions => {
  return { ...readSilentOptions(input), ...serverNotes };
};

/** The options of a session that says nothing of its servers. */
export function readSilentOptions({ options, cwd }: SessionInput) {
  const { config, platform, driver, toolset, lazy, eager, frozen, install = false } = options;
  return {
    cwd,
    config,
    device: platform || driver ? { platform, driverType: driver } : undefined,
    preferHostAgent: options["on-device"] ? false : undefined,
    memory: options.memory?.map((text) => splitPair(text, "--memory")),
    toolsets: toolset,
    start: lazy ? "lazy" : eager ? "eager" : undefined,
    install,
    lock: frozen ? "frozen" : undefined,
    onInstall: (command: string) => output.note(`Running ${printable(command)}`),
  } satisfies SessionOptions;
}

/**
 * Opens the session of a command, which is closed when that ends, even after Ctrl-C. Output of packs' code goes to stderr.
 * `calls`: the names of the tools that the command calls; with it, the command asks on a terminal. `more`: when servers start.
 */
export async function openCommandSession(
  input: SessionInput,
  calls?: readonly string[],
  more: Pick<CommandSessionOptions, "defaultStart" | "defaultMaxChars"> = {},
): Promise<{ session: Session; signal: AbortSignal }> {
  const options: CommandSessionOptions = {
    ...readSessionOptions(input),
    onInput:
      calls !== undefined && (await import("../ask.ts")).canAsk()
        ? (await import("./ask-input.ts")).askOnTerminal({ input: process.stdin, note: output.note })
        : undefined,
    calls,
    served: input.options.served === true,
    ...more,
  };
  const signal = await catchSignals(input, true);
  const { openSession } = await import("../../session.ts");
  const session = await openSession({ ...options, signal });
  input.session = session;
  return { session, signal };
}
