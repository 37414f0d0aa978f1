import { Readable } from "node:stream";
import type { CommandAnswer } from "../../src/cli/command.ts";
import { main } from "../../src/cli/main.ts";
import { parseCommandLine } from "../../src/cli/parse-command-line.ts";
import type { CliOptions } from "./run-cli.ts";
import type { ProcessResult } from "./run-process.ts";

interface Options extends CliOptions {
  /** Gets what is written to stderr at once. */
  readonly onError?: (text: string) => void;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line as `runCli` does, but in this process: without a terminal and the built command. One runs after the
 * other, because they share the environment, the input and where output goes.
 */
export function runMain(args: readonly string[], options: Options): Promise<ProcessResult> {
  const result = last.then(() => run(args, options));
  last = result.catch(() => {});
  return result;
}

async function run(
  args: readonly string[],
  { cwd, env = {}, input = "", onError }: Options,
): Promise<ProcessResult> {
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin") ?? {};
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  const written = { 1: "", 2: "" };
  setVariables(Object.entries(env));
  Object.defineProperty(process, "stdin", { value: Readable.from([Buffer.from(input)]), configurable: true });
  try {
    const exitCode = await main(args, {
      cwd,
      write(descriptor, text) {
        written[descriptor] += text;
        if (descriptor === 2) onError?.(text);
      },
    });
    return { exitCode, stdout: written[1], stderr: written[2] };
  } finally {
    setVariables(before);
    Object.defineProperty(process, "stdin", stdin);
  }
}

function setVariables(variables: readonly (readonly [name: string, value: string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** What a command answers, without printing it. */
export async function answerOf(cwd: string, name: string, ...args: string[]): Promise<CommandAnswer> {
  const { command, input } = await parseCommandLine(name, args, cwd);
  return command.run(input).finally(() => input.session?.close());
}
