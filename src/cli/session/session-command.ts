import { platforms } from "../../extension-schema/meta-keys.ts";
import { failure, formatProblem, printable } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import type { Session } from "../../session/session.ts";
import type { CommandSessionOptions, SessionOptions, StartedCommand } from "../../session/session-options.ts";
import type { CommandInput } from "../command.ts";
import { output } from "../output.ts";

const textsOf = (value: CommandInput["options"][string]): string[] =>
  Array.isArray(value) ? value.map(String) : value === undefined ? [] : [String(value)];

/** Splits `key=value`; throws `InvalidArguments` for a text without `=`. */
export function splitPair(text: string, what: string): [key: string, value: string] {
  const index = text.indexOf("=");
  if (index > 0) return [text.slice(0, index), text.slice(index + 1)];
  throw failure("InvalidArguments", {
    reason: `${what} is written key=value, but this is "${printable(text)}"`,
  });
}

function readPlatform(value: string | undefined): string | undefined {
  const platform = value?.toUpperCase();
  if (platform === undefined || platforms.some((one) => one === platform)) return platform;
  const hint = `Platforms are ${platforms.join(", ")}.`;
  throw failure("InvalidArguments", { reason: `--platform "${value}" is no platform`, hint });
}

/** How a command line is shown before it is started: one line, quoted where a shell would need it. */
export function formatCommand({ command, args }: Pick<StartedCommand, "command" | "args">): string {
  return printable([command, ...args].map(quoteForShell).join(" "));
}

/** What the options that `tools`, `call` and `run` share ask of a session. */
export function readSessionOptions({ options, cwd }: CommandInput): SessionOptions {
  const platform = readPlatform(options.platform as string | undefined);
  const driver = options.driver as string | undefined;
  const deviceChanges = {
    ...(platform === undefined ? {} : { platform }),
    ...(driver === undefined ? {} : { driverType: driver }),
  };
  const memory = textsOf(options.memory).map((text) => splitPair(text, "--memory"));
  const toolsets = textsOf(options.toolset);
  return {
    cwd,
    ...(options.config === undefined ? {} : { config: String(options.config) }),
    ...(Object.keys(deviceChanges).length === 0 ? {} : { deviceChanges }),
    ...(options["on-device"] === true ? { preferHostAgent: false } : {}),
    ...(memory.length === 0 ? {} : { memory }),
    ...(toolsets.length === 0 ? {} : { toolsets }),
    ...(options.install === true ? { install: true } : {}),
    onInstall: (command) => output.note(`Running ${printable(command)}`),
    onCommand: (started) => output.note(`Starting ${printable(started.label)}: ${formatCommand(started)}`),
  };
}

/** Says of a process that ends before its command has an answer that this was no success, whatever code it ends with. */
function reportEarlyExit(asJson: boolean): void {
  process.exitCode = 1;
  const { problem } = failure("SessionClosed", { reason: "code of a tool ended the process" });
  const { severity: _, ...error } = problem;
  if (asJson) output.json({ error });
  else output.note(formatProblem(problem, output.stderrStyle()));
}

/**
 * Opens a session for a command, and closes it whatever happens; Ctrl-C ends it as well. What packs' code prints
 * reaches stderr only. `calls` are the names of tools that it is opened for.
 */
export async function withSession<Answer>(
  input: CommandInput,
  use: (session: Session, signal: AbortSignal) => Promise<Answer>,
  calls: readonly string[] = [],
): Promise<Answer> {
  const options: CommandSessionOptions = { ...readSessionOptions(input), calls };
  const interruption = new AbortController();
  const interrupt = (signal: NodeJS.Signals) =>
    interruption.abort(failure("SessionClosed", { reason: `it was interrupted by ${signal}` }));
  const onExit = () => reportEarlyExit(input.options.json === true);
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    await output.reserve();
    const { openSession } = await import("../../session.ts");
    const session = await openSession({ ...options, signal: interruption.signal });
    process.once("exit", onExit);
    try {
      return await use(session, interruption.signal);
    } finally {
      process.off("exit", onExit);
      await session.close();
    }
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
