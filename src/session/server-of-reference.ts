import type { SessionConfig } from "../config/session-config.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { findPackageFolder, readBins } from "../inspection/server-package.ts";
import { failure, type TrailblazeError } from "../problems/index.ts";
import { makeOwnName } from "../qualified-names/advertised-names.ts";
import { findNearestNames, isPackageName, isQualifiedName } from "../qualified-names/index.ts";
import type { SkippedTool, ToolCandidate } from "./session-tool.ts";

/** Splits `LABEL/TOOL`. The tool is the server's own name, which may contain slashes; a label contains none. */
export function splitServerReference(reference: string): { label: string; tool: string } | undefined {
  const at = reference.indexOf("/");
  return at < 1 || at === reference.length - 1
    ? undefined
    : { label: reference.slice(0, at), tool: reference.slice(at + 1) };
}

/** The tools of the config's servers by `LABEL/TOOL`. */
export function indexByLabel(candidates: readonly ToolCandidate[]): Map<string, ToolCandidate> {
  const index = new Map<string, ToolCandidate>();
  for (const candidate of candidates) {
    const { route, tool } = candidate;
    if (route.by !== "server" || tool.source.type !== "config") continue;
    index.set(`${route.plan.label}/${route.advertisedName}`, candidate);
  }
  return index;
}

/**
 * The labels of the config's servers that calls of these tools need; `undefined` if they need every server. `LABEL/TOOL`
 * needs its server, and a qualified name needs none.
 */
export function findNeededServers(
  calls: readonly string[],
  { subprocessServers }: SessionConfig,
): ReadonlySet<string> | undefined {
  if (calls.length === 0) return undefined;
  const needed = new Set<string>();
  for (const name of calls) {
    const { label } = splitServerReference(name) ?? {};
    if (label !== undefined && subprocessServers.some((server) => server.name === label)) needed.add(label);
    else if (!isQualifiedName(name)) return undefined;
  }
  return needed;
}

/** The error for a package that is installed: it is not a pack, or not declared. `undefined` for other names. */
export function explainPackage(
  port: InspectionPort,
  project: string,
  name: string,
): TrailblazeError | undefined {
  const folder = findPackageFolder(port, project, name);
  const read = readUsableManifest(port, folder);
  if (read === undefined) return undefined;
  if (read.value.trailblaze !== undefined)
    return failure("PackNotInstalled", { name, isUndeclared: true }, { pack: name });
  return failure("ExtensionNotFound", { name, mayBeServer: readBins(name, read.value).size > 0 });
}

interface ServerReferenceContext {
  config: SessionConfig;
  /** The tools of the session. */
  candidates: Iterable<ToolCandidate>;
  skipped: readonly SkippedTool[];
  /** The error for a call of an excluded tool, if it has one of its own. */
  refusalOf?(skipped: SkippedTool): TrailblazeError | undefined;
}

/**
 * The error for a reference that is `LABEL/TOOL` and neither a tool of the session nor of an installed pack. `undefined` if
 * it is not: the config has no servers, or the name has another form.
 */
export function explainServerReference(
  reference: string,
  { config, candidates, skipped, refusalOf }: ServerReferenceContext,
): TrailblazeError | undefined {
  const { subprocessServers, unusedServers } = config;
  const { label = "", tool = "" } = splitServerReference(reference) ?? {};
  if (label === "") return undefined;
  const server = subprocessServers.find(({ name }) => name === label);
  const notFound = { otherKind: undefined, nearest: [] as string[] };
  if (server !== undefined) {
    const offered = makeOwnName(server.choices.prefix, tool);
    const lost = skipped.find(
      ({ name, source }) =>
        source.type === "config" && source.server === label && [offered, label].includes(name),
    );
    if (lost !== undefined)
      return (
        refusalOf?.(lost) ?? failure("ToolNotFound", { ...notFound, name: reference, reason: lost.message })
      );
    const own = [...indexByLabel([...candidates]).keys()]
      .filter((name) => name.startsWith(`${label}/`))
      .map((name) => name.slice(label.length + 1));
    const nearest = findNearestNames(tool, own).map((name) => `${label}/${name}`);
    return failure("ToolNotFound", { ...notFound, name: reference, nearest, server: label });
  }
  if (unusedServers.some(({ name }) => name === label))
    return failure("ServerNotFound", { ...notFound, name: label, isDisabled: true });
  const labels = [...subprocessServers, ...unusedServers].map(({ name }) => name);
  const mayBeLabel = !label.startsWith("@") && (!tool.includes("/") || !isPackageName(label));
  if (labels.length === 0 || !mayBeLabel) return undefined;
  return failure("ServerNotFound", {
    ...notFound,
    name: label,
    nearest: findNearestNames(label, labels),
    isLabel: true,
  });
}
