import { readConfigNames } from "../../config/server-entries.ts";
import { findProject } from "../../discovery/project.ts";
import { discoveryPort as port } from "../../files/node-discovery-port.ts";
import type { PackInspection } from "../../inspection/inspect.ts";
import { inspectSubject } from "../../inspection/inspect.ts";
import { keyOfKind, kinds } from "../../kinds.ts";
import {
  createItemPage,
  createNeedsTable,
  formatValue,
  type PageSubject,
  type Part,
} from "../../pages/page.ts";
import { failure, printable, printableLines, quote, TrailblazeError } from "../../problems/index.ts";
import { unknownName } from "../../qualified-names/nearest-names.ts";
import { readKind } from "../../qualified-names/resolve-reference.ts";
import { type CommandAnswer, type CommandInput, defineCommand, type TextStyle } from "../command.ts";
import { inspectionOptions, readInspectionOptions } from "../inspection-options.ts";
import { formatColumns, formatTable, shortenForPeople, wrap } from "../layout.ts";
import { flag, text } from "../options.ts";

const options = {
  kind: text(
    "KIND",
    "Kind of the item, if several share the name: server, tool, toolset, prompt, resource or skill",
  ),
  start: flag("Start the server LABEL of the config to show its tool"),
  ...inspectionOptions,
};

type Input = CommandInput<typeof options>;

export const command = defineCommand({
  summary: "Show a pack or an item and its definition, without running it",
  usage: "<pack|publisher/pack/item|label/tool>",
  options,
  run,
});

const formatLines = (text: string): string => printableLines(shortenForPeople(text.trimEnd()));

function formatPart(part: Part, style: TextStyle): string {
  if (typeof part === "string") return formatLines(part);
  const headings = part.columns.map((column) => column.toUpperCase());
  const rows = part.rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : cell.code)));
  return formatTable(headings, rows, style);
}

/** `origin`: what is known of where it is from. */
export function formatItemPage(
  subject: PageSubject,
  origin: readonly (readonly [string, string])[],
  style: TextStyle,
): string {
  const { kind, qualifiedName } = subject;
  const { name, title, description, parts, content, facts } = createItemPage(subject);
  const heading = [`${kind} ${qualifiedName}`, title, description].filter(Boolean);
  const advertised = kind === "tool" || kind === "prompt" ? [["advertised", name]] : [];
  const ofDefinition = facts.map(([key, value]) => [key, formatValue(value)]);
  const cells = [...origin, ...advertised, ...ofDefinition].map(([key = "", value = ""]) => [
    printable(shortenForPeople(key)),
    printable(shortenForPeople(value)),
  ]);
  const blocks = [
    heading.map((line) => wrap(printable(shortenForPeople(line)), style.width)).join("\n"),
    formatColumns(cells, style.width),
    ...parts.map((part) => formatPart(part, style)),
    formatLines(content),
  ];
  return blocks.filter(Boolean).join("\n\n");
}

function formatPack(pack: PackInspection, style: TextStyle): string {
  const lines = [
    `${pack.name} ${pack.version ?? ""}`.trimEnd(),
    ...(pack.description === null ? [] : [pack.description]),
    `${pack.origin} in ${pack.location}`,
  ].map((line) => wrap(printable(shortenForPeople(line)), style.width));
  const rows = kinds.flatMap((kind) =>
    pack[keyOfKind[kind]].map((item) => [
      kind,
      item.qualifiedName,
      item.file ?? "(no definition)",
      item.description ?? "",
    ]),
  );
  if (rows.length > 0)
    lines.push("", formatTable(["KIND", "NAME", "DEFINITION", "DESCRIPTION"], rows, style));
  const needs = createNeedsTable(pack.needs);
  if (needs.rows.length > 0) lines.push("", formatPart(needs, style));
  return lines.join("\n");
}

const notOfServer = (subject: string) =>
  failure("InvalidArguments", {
    reason: `${quote(subject)} is not a tool of a server of the config`,
    hint: "Omit --start, or pass LABEL/TOOL.",
  });

/** The error for `LABEL/TOOL` with a label that the config does not have; `undefined` for other names. */
function explainUnknownLabel(subject: string, labels: readonly string[]): TrailblazeError | undefined {
  const [label = "", tool = "", ...rest] = subject.split("/");
  if (labels.length === 0 || label.startsWith("@") || tool === "" || rest.length > 0) return undefined;
  return unknownName("ServerNotFound", label, labels, { isLabel: true });
}

async function inspectServerTool(input: Input, subject: string): Promise<CommandAnswer> {
  const { openCommandSession } = await import("../session/session-command.ts");
  const { session } = await openCommandSession(input, [subject]);
  const tool = await session.resolveTool(subject);
  const { name, source, title, description, inputSchema, outputSchema, annotations } = tool;
  if (source.type !== "config") throw notOfServer(subject);
  const ofTool = { title, description, inputSchema, outputSchema, annotations };
  const definition = { name: subject.slice(subject.indexOf("/") + 1), ...ofTool };
  const shown = { kind: "tool", name, qualifiedName: subject, definition: { name, ...ofTool } } as const;
  return {
    json: { kind: "tool", qualifiedName: null, name, source, definition, problems: session.problems },
    formatText: (style) => formatItemPage(shown, [["server", source.server ?? ""]], style),
  };
}

async function run(input: Input): Promise<CommandAnswer> {
  const { positionals, options, cwd } = input;
  const [subject = ""] = positionals;
  const kind = readKind(options.kind);
  const mayBeLabel = kind === undefined || kind === "tool";
  const labels = mayBeLabel ? (await readConfigNames(port, findProject(port, cwd).directory)).labels : [];
  const label = labels.find((one) => subject.startsWith(`${one}/`));
  const unknownLabel = label === undefined ? explainUnknownLabel(subject, labels) : undefined;
  // Other names would start all servers.
  if (options.start && label === undefined) throw unknownLabel ?? notOfServer(subject);
  if (options.start) return inspectServerTool(input, subject);
  const inspected = await inspectSubject(subject, { ...readInspectionOptions(input), kind }).catch(
    (error: unknown) => {
      const code = error instanceof TrailblazeError ? error.code : undefined;
      if (label !== undefined && code !== undefined && code !== "AmbiguousName")
        throw failure("InvalidArguments", {
          reason: `The tools of the configured server ${quote(label)} are unknown until it starts`,
          hint: "Pass --start to start it.",
        });
      throw (code === "PackNotInstalled" && unknownLabel) || error;
    },
  );
  if ("pack" in inspected) {
    const { pack } = inspected;
    return { json: pack, formatText: (style) => formatPack(pack, style) };
  }
  const { item, readMembers } = inspected;
  const { pack, version, file, confinement, tools } = item;
  const contents = tools === undefined && !options.json ? await readMembers() : item;
  const how = confinement === "data" ? "data" : `code, ${confinement}`;
  const origin = [
    ["pack", `${pack} ${version ?? ""}`.trimEnd()],
    ["file", file === null ? "(no definition)" : `${file} (${how})`],
  ] as const;
  // Without a definition, the advertised name is unknown.
  const page = { ...item, name: "", contents };
  return { json: item, formatText: (style) => formatItemPage(page, origin, style) };
}
