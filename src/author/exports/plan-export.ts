import { chmodSync, lstatSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { formatLineDiff } from "../../data/line-diff.ts";
import { isRecord } from "../../data/parse-json.ts";
import { readTextFile, replaceTextFile } from "../../files/author-files.ts";
import { makeFolders } from "../../files/write-files.ts";
import { readBins } from "../../inspection/server-package.ts";
import { failure, type Problem, quote } from "../../problems/index.ts";
import { hostVersion } from "../../version.ts";
import type { DescribedPack } from "../docs/describe-pack.ts";
import { editManifest, type ManifestChange, publishFiles } from "./edit-manifest.ts";
import { describeServer, type ExportedServer, programOf, withoutDot } from "./exported-server.ts";
import { type ExportOptions, formats } from "./formats.ts";

/** A file of a plan. */
export interface PlannedFile {
  /** Relative to the folder that it was planned in, with `/`; absolute outside it. */
  file: string;
  /** Absolute. */
  path: string;
  changed: boolean;
  /** Unified; empty if nothing changes. */
  diff: string;
  text: string;
  isProgram: boolean;
}

/** What an export would write. */
export interface ExportPlan {
  format: string;
  /** Qualified name. */
  server: string;
  files: PlannedFile[];
  problems: Problem[];
}

export interface PlanOptions extends ExportOptions {
  /** Absolute. Default: the folder of the package. */
  out?: string | undefined;
  force: boolean;
}

/** The names of the formats. */
export const exportFormats: readonly string[] = Object.keys(formats);

/** The text of a file that may not be there. Throws `ExportConflict` for a folder, a pipe or a link to nothing. */
function readExisting(path: string, shown: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw failure("ExportConflict", { file: shown }, { file: shown });
  return readTextFile(path);
}

/** The changes of package.json that make a program a command of the package. */
function addCommand({ manifest, shortName, name }: ExportedServer): ManifestChange[] {
  const program = programOf(name);
  const bins = readBins(shortName, manifest);
  const isThere = [...bins.values()].some((path) => withoutDot(path) === program);
  const dependencies = isRecord(manifest.dependencies) ? manifest.dependencies : {};
  const needsHost = !Object.hasOwn(dependencies, "trailblaze") && manifest.name !== "trailblaze";
  // The first command has the name of the package, so that npx runs it.
  const command = bins.size === 0 ? shortName : `${shortName}-${name}`;
  const isText = typeof manifest.bin === "string";

  return [
    ...(isThere
      ? []
      : isText
        ? [
            {
              path: ["bin"] as const,
              value: { ...Object.fromEntries(bins), [command]: program },
              replaces: true,
            },
          ]
        : [{ path: ["bin", command] as const, value: program }]),
    ...(needsHost ? [{ path: ["dependencies", "trailblaze"] as const, value: `^${hostVersion}` }] : []),
  ];
}

/** A path in a folder, with `/`; `undefined` outside it. */
function pathIn(folder: string, path: string): string | undefined {
  const inside = relative(folder, path);
  if (/^\.\.(?:[\\/]|$)/.test(inside) || isAbsolute(inside)) return undefined;
  return inside.split(sep).join("/");
}

/**
 * Plans the export of a server of a pack; writes nothing. Throws `TrailblazeError`: `InvalidArguments` for another format,
 * `ServerNotFound`, `AmbiguousName`, `ExportConflict`, and what the format demands.
 */
export function planExport(
  pack: DescribedPack,
  format: string,
  serverName: string | undefined,
  options: PlanOptions,
): ExportPlan {
  const create = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (create === undefined) {
    const hint = `Pass one of ${exportFormats.join(", ")}.`;
    throw failure("InvalidArguments", { reason: `Unknown format ${quote(format)}`, hint });
  }
  const { location } = pack.found.pack;
  const out = options.out ?? location;
  const isProgram = format === "bin";
  if (isProgram && out !== location) {
    const hint = "Omit --out.";
    throw failure("InvalidArguments", { reason: "The program of a server belongs into its package", hint });
  }
  const server = describeServer(pack, serverName);
  const { files, problems } = create(server, options);
  const planned = files.map(({ path: inside, text }): PlannedFile => {
    const path = resolve(out, inside);
    const shown = pathIn(location, path) ?? path;
    const before = readExisting(path, shown);
    const isChanged = before?.replaceAll("\r\n", "\n") !== text;
    if (before !== undefined && isChanged && !options.force)
      throw failure("ExportConflict", { file: shown }, { file: shown });
    const diff = isChanged ? formatLineDiff(shown, before, text) : "";
    return { file: shown, path, changed: isChanged, diff, text, isProgram };
  });
  const published = planned.flatMap(({ path }) => pathIn(location, path) ?? []);
  const changes = [...(isProgram ? addCommand(server) : []), ...publishFiles(server.manifest, published)];
  const manifest = planManifest(pack, changes, options.force);
  return {
    format,
    server: server.qualifiedName,
    files: manifest === undefined ? planned : [...planned, manifest],
    problems,
  };
}

/** package.json with the changes; `undefined` if there are none. */
function planManifest(
  { found }: DescribedPack,
  changes: readonly ManifestChange[],
  force: boolean,
): PlannedFile | undefined {
  const file = "package.json";
  const path = join(found.pack.location, file);
  const before = readTextFile(path) ?? "";
  const text = editManifest(before, found.manifest.value, changes, force);
  if (text === before) return undefined;
  return { file, path, changed: true, diff: formatLineDiff(file, before, text), text, isProgram: false };
}

/** Writes the files of a plan that differ, each atomically. Throws `InvalidArguments` if one cannot be written. */
export function applyExport({ files }: ExportPlan): void {
  for (const { path, text, changed, isProgram } of files) {
    if (!changed) continue;
    makeFolders(dirname(path));
    replaceTextFile(path, text);
    if (isProgram) chmodSync(path, 0o755);
  }
}
