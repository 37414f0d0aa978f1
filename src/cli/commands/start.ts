import { fstatSync } from "node:fs";
import { failure, printable } from "../../problems/index.ts";
import type { CommandServeOptions, HttpTransport, RunningServer } from "../../serve/serve-options.ts";
import type { CommandAnswer, CommandInput } from "../command.ts";
import { output } from "../output.ts";

/** A number of an option, at least `minimum`; throws `InvalidArguments` for anything else. */
function readNumber(options: CommandInput["options"], name: string, minimum: number): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value !== "" && Number.isInteger(number) && number >= minimum) return number;
  throw failure("InvalidArguments", {
    reason: `--${name} "${printable(String(value))}" is no number from ${minimum} upwards`,
  });
}

/** `PORT`, `HOST:PORT` or `[IPv6]:PORT`. */
function readAddress(value: string): { host?: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    const hint = "Write --http 8080, --http 0.0.0.0:8080 or --http [::1]:8080; port 0 takes a free one.";
    throw failure("InvalidArguments", { reason: `--http "${printable(value)}" is no [HOST:]PORT`, hint });
  }
  const host = bracketed ?? plain;
  return host === undefined ? { port } : { host, port };
}

const httpOptions = ["token", "no-auth", "session-ttl", "max-sessions", "stateless"];

function readHttp(options: CommandInput["options"]): HttpTransport {
  // An empty variable is one that is not set; an empty --token is a mistake that would leave the door open.
  const token = options.token ?? (process.env.TRAILBLAZE_HTTP_TOKEN || undefined);
  const sessionTtl = readNumber(options, "session-ttl", 1);
  const maxSessions = readNumber(options, "max-sessions", 1);
  return {
    ...(options.http === undefined ? {} : readAddress(String(options.http))),
    ...(token === undefined ? {} : { token: String(token) }),
    ...(options["no-auth"] === true ? { noAuth: true } : {}),
    ...(sessionTtl === undefined ? {} : { sessionTtl }),
    ...(maxSessions === undefined ? {} : { maxSessions }),
    ...(options.stateless === true ? { stateless: true } : {}),
  };
}

/**
 * Whoever holds the other end of a pipe to stdin ends the server by closing it. A daemon's stdin is no pipe, has ended
 * from the beginning, and means nothing.
 */
function whenInputEnds(stop: () => void): void {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return;
  process.stdin.once("end", stop).resume();
}

/** Whatever there was to say was said to the client. */
const served: CommandAnswer = { json: null, formatText: () => "", problems: [], isSilent: true };

/** Serves until the client is done, or a signal says so. */
export async function run({ positionals, options, cwd }: CommandInput): Promise<CommandAnswer> {
  const [reference = ""] = positionals;
  if (options.stdio === true && options.http !== undefined) {
    throw failure("InvalidArguments", { reason: "--stdio and --http exclude each other" });
  }
  const onlyHttp = httpOptions.find((name) => options[name] !== undefined);
  const http = readHttp(options);
  const { startServer } = await import("../../serve.ts");
  const beginning = new AbortController();
  let stop = () => beginning.abort();
  const onSignal = () => stop();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const serving: CommandServeOptions = {
    cwd,
    ...(options.config === undefined ? {} : { config: String(options.config) }),
    ...(options.http === undefined ? {} : { transport: http }),
    ...(options.stdio === true ? { transport: "stdio" as const } : {}),
    ...(onlyHttp === undefined ? {} : { onlyHttp: `--${onlyHttp}` }),
    http,
    ownsStdout: true,
    ...(options.install === true ? { install: true } : {}),
    onInstall: (command) => output.note(`Running ${printable(command)}`),
    allTools: options["all-tools"] === true,
    signal: beginning.signal,
  };
  let running: RunningServer;
  try {
    running = await startServer(reference, serving);
  } catch (error) {
    const { aborted, reason } = beginning.signal;
    if (aborted && error === reason) return served;
    throw error;
  }
  stop = () => void running.close();
  if (beginning.signal.aborted) stop();
  const { url } = running;
  if (url !== undefined) output.note(`Serving ${printable(reference)} on ${url}`);
  if (url !== undefined && options.json) output.json({ server: reference, url });
  if (url !== undefined) whenInputEnds(onSignal);
  await running.ended;
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  return served;
}
