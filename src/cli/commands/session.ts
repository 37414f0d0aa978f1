import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { carryIntegers, stringifyExactly } from "../../data/exact-integers.ts";
import { failure, printable, printableLines, quote, shorten, TrailblazeError } from "../../problems/index.ts";
import { makeServedName } from "../../qualified-names/advertised-names.ts";
import type { ToolSource } from "../../runtime/tool-code.ts";
import type { ResourceContents, ToolResult, Variant } from "../../runtime/tool-result.ts";
import type { ToolProgress } from "../../session/host-functions.ts";
import { formatRecording } from "../../session/session-memory.ts";
import { defineCommand } from "../command.ts";
import { exitCodeOfFailure } from "../exit-code.ts";
import { formatTable, shortenForPeople, wrap } from "../layout.ts";
import { flag, integer, text } from "../options.ts";
import { output } from "../output.ts";
import { readArguments, splitPair } from "../session/read-arguments.ts";
import { callOptions, openCommandSession, startOptions } from "../session/session-command.ts";
import { openTrail, readTrail } from "../session/trail.ts";

function formatSource({ source }: { source: ToolSource }): string {
  const { type, pack, server } = source;
  if (type === "pack") return server === undefined ? (pack ?? "") : `${pack} (server ${server})`;
  return type === "config" ? `config (server ${server})` : "built-in";
}

const formatBlock = (block: Readonly<{ type: string; text?: unknown; mimeType?: unknown }>): string =>
  block.type === "text" && typeof block.text === "string"
    ? printableLines(block.text)
    : `[${printable(block.type)}${typeof block.mimeType === "string" ? ` ${printable(block.mimeType)}` : ""}]`;

export const tools = defineCommand({
  summary: "List the tools of a session, and why others are excluded",
  usage: "",
  options: { ...startOptions, ...callOptions },
  async run(input) {
    const { session } = await openCommandSession(input);
    const { id, tools, toolsets, servers, skipped, problems } = session;
    // Renames all of them before any is shown: this session ends with the command.
    if (input.options.served) for (const tool of tools) tool.name = makeServedName(tool.name);
    const shown = session.toolsForLlm();
    const wanted = input.options.toolset === undefined ? tools : shown;
    const described = wanted.map(({ name, qualifiedName, source, description = null, ...rest }) => {
      return { name, qualifiedName, source, description, ...rest };
    });
    return {
      json: { sessionId: id, tools: described, toolsets, servers, skipped, problems },
      formatText(style) {
        const rows = shown.map((tool) => [tool.name, formatSource(tool), tool.description ?? ""]);
        const none = tools.length === 0 ? "The session has no tools." : "No tools are offered to models.";
        const parts = [rows.length === 0 ? none : formatTable(["TOOL", "FROM", "DESCRIPTION"], rows, style)];
        const hidden = tools.filter((tool) => !shown.includes(tool)).map(({ name }) => printable(name));
        if (hidden.length > 0)
          parts.push(wrap(`Callable but hidden from models: ${hidden.join(", ")}`, style.width, 2));
        const excluded = skipped.map((tool) => [tool.name, formatSource(tool), tool.reason, tool.message]);
        if (excluded.length > 0)
          parts.push(`Excluded:\n${formatTable(["TOOL", "FROM", "REASON", "MESSAGE"], excluded, style)}`);
        return parts.join("\n\n");
      },
    };
  },
});

export const prompts = defineCommand({
  summary: "List the prompts of a session, or print the messages of one",
  usage: "[prompt] [key=value...]",
  options: callOptions,
  async run(input) {
    const [name, ...words] = input.positionals;
    const args = Object.fromEntries(words.map((word) => splitPair(word, "an argument")));
    if (name === undefined) {
      const { prompts, problems } = (await openCommandSession(input)).session;
      const described = prompts.map(({ name, qualifiedName, title = null, description = null, ...rest }) => {
        return { name, qualifiedName, title, description, ...rest };
      });
      const rows = prompts.map((prompt) => [
        prompt.name,
        formatSource(prompt),
        prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(" "),
        prompt.description ?? "",
      ]);
      const headings = ["PROMPT", "FROM", "ARGUMENTS", "DESCRIPTION"];
      return {
        json: { prompts: described, problems },
        formatText: (style) =>
          rows.length === 0 ? "The session has no prompts." : formatTable(headings, rows, style),
      };
    }
    const { session, signal } = await openCommandSession(input, [name]);
    const { description = null, messages } = await session.getPrompt(name, args, { signal });
    const shown = messages.map(({ role, content }) => `${printable(role)}:\n${formatBlock(content)}`);
    return {
      json: { description, messages },
      formatText: () => shown.join("\n\n"),
      problems: session.problems,
      exitCode: 0,
    };
  },
});

export const call = defineCommand({
  summary: "Call a tool by its advertised or qualified name, or by label/tool",
  usage: "<tool> [key=value...]",
  options: {
    args: text("JSON", "Arguments as a JSON object, or - to read them from stdin"),
    timeout: integer("MS", 1, "Timeout of the call in milliseconds"),
    record: text("FILE", "Append the call to this trail if it succeeds"),
    ...callOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const [name = "", ...words] = positionals;
    const { timeout: timeoutMs, record } = options;
    const readFor = await readArguments(options.args, words);
    const trail = record === undefined ? undefined : openTrail(resolve(cwd, record));
    const defaultMaxChars = output.stdoutIsTerminal() ? 100_000 : undefined;
    const defaults = { defaultStart: "lazy", defaultMaxChars } as const;
    const { session, signal } = await openCommandSession(input, [name], defaults);
    const args = readFor((await session.resolveTool(name)).inputSchema);
    const startTime = performance.now();
    const result = await session.callTool(name, args, { signal, timeoutMs, onProgress: showProgress });
    const elapsedMs = Math.round(performance.now() - startTime);
    trail?.append(await formatRecording(session.recording));
    const { variant, message, content, structuredContent, details } = result;
    const document = { variant, message, content, structuredContent, details, elapsedMs };
    return {
      json: stringifyExactly(carryIntegers(result, document), 2),
      formatText: () => formatResult(result),
      problems: session.problems,
      exitCode: variant === "Success" ? 0 : 1,
    };
  },
});

function showProgress({ progress, total, message }: ToolProgress): void {
  if (!output.stderrIsTerminal()) return;
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  output.note(message === undefined ? share : `${share} ${printable(shorten(message))}`);
}

function formatResult({ variant, message, content, structuredContent }: ToolResult): string {
  const blocks = content.map(formatBlock);
  if (variant !== "Success") return `${variant}: ${blocks.join("\n") || printableLines(message)}`;
  if (blocks.length === 0 && structuredContent !== undefined)
    return printableLines(stringifyExactly(structuredContent, 2));
  return blocks.join("\n");
}

export const read = defineCommand({
  summary: "Read a resource by its URI, and print its text",
  usage: "<uri>",
  options: {
    out: { ...text("FILE", "Write the content to this file, text or bytes"), excludes: ["json"] },
    ...callOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const [uri = ""] = positionals;
    const { out, json: isJson } = options;
    const { session, signal } = await openCommandSession(input, []);
    const { contents } = await session.readResource(uri, { signal });
    const answer = { json: { contents }, problems: session.problems, exitCode: 0 } as const;
    if (isJson) return answer;
    if (out !== undefined) {
      writeContents(resolve(cwd, out), uri, contents);
      return answer;
    }
    const texts = contents.map(({ text }) => text);
    if (texts.includes(undefined)) throw invalid(`${quote(uri)} is binary`, "Add --out FILE, or --json.");
    const text = texts.join("\n");
    // Others than a terminal get the text as it is. Not every terminal says its width.
    return { ...answer, formatText: () => (output.stdoutIsTerminal() ? printableLines(text) : text) };
  },
});

const invalid = (reason: string, hint?: string) => failure("InvalidArguments", { reason, hint });

function writeContents(file: string, uri: string, contents: readonly ResourceContents[]): void {
  const [only, another] = contents;
  if (only === undefined || another !== undefined)
    throw invalid(`${quote(uri)} has ${contents.length} parts, and --out writes one`, "Add --json instead.");
  try {
    writeFileSync(file, only.text ?? Buffer.from(only.blob ?? "", "base64"));
  } catch (error) {
    throw invalid(`Cannot write ${quote(file, 200)}: ${(error as Error).message}`);
  }
}

export const run = defineCommand({
  summary: "Replay a trail, stopping at the first failure",
  usage: "<trail>",
  options: {
    "keep-going": flag("Continue after a failed step"),
    ...callOptions,
  },
  async run(input) {
    const { positionals, options, cwd } = input;
    const trail = readTrail(resolve(cwd, positionals[0] ?? ""));
    const names = trail.map(({ tool }) => tool);
    const { session, signal } = await openCommandSession(input, names);
    // Resolve every tool first, so that a trail with an unknown tool runs no step.
    for (const name of names) await session.resolveTool(name);
    const steps: { tool: string; variant: Variant; message: string; elapsedMs: number }[] = [];
    const lines: string[] = [];
    let stopped = false;
    let interruption: TrailblazeError | undefined;
    try {
      for (const { tool, arguments: args } of trail) {
        const startTime = performance.now();
        const { variant, message } = await session.callTool(tool, args, { signal });
        const elapsedMs = Math.round(performance.now() - startTime);
        steps.push({ tool, variant, message, elapsedMs });
        const isDone = variant === "Success";
        const why = isDone ? "" : `\n     ${variant}: ${printableLines(shortenForPeople(message))}`;
        const line = `${isDone ? "ok  " : "FAIL"} ${printable(tool)} (${elapsedMs} ms)${why}`;
        lines.push(line);
        if (output.stderrIsTerminal()) output.note(line);
        // No step can succeed after a FatalError, even with --keep-going.
        stopped = variant === "FatalError" || (!isDone && !options["keep-going"]);
        if (stopped) break;
      }
    } catch (error) {
      if (!signal.aborted || !(error instanceof TrailblazeError)) throw error;
      // The answer contains the steps that have run.
      interruption = error;
    }
    const done = steps.filter(({ variant }) => variant === "Success").length;
    const rest = trail.length - steps.length;
    const summary = `${done} of ${trail.length} steps succeeded${rest > 0 ? `; ${rest} not run` : ""}.`;
    return {
      json: { steps, stopped: stopped || interruption !== undefined },
      formatText: () => [...lines, summary].join("\n"),
      problems: interruption ? [...session.problems, interruption.problem] : session.problems,
      exitCode: interruption ? exitCodeOfFailure(interruption) : done === trail.length ? 0 : 1,
    };
  },
});
