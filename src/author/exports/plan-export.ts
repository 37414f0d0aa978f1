import { lstatSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { formatLineDiff } from "../../data/line-diff.ts";
import { isRecord } from "../../data/parse-json.ts";
import { type Edit, isChange, planEdit, readTextFile } from "../../files/edit.ts";
import type { DescribedPack } from "../../pages/describe-packs.ts";
import { failure, type Problem, quote } from "../../problems/index.ts";
import { readBins } from "../../qualified-names/reserved-commands.ts";
import { hostVersion } from "../../version.ts";
import { editManifest, type ManifestChange, publishFiles } from "./edit-manifest.ts";
import { describeServer, type ExportedServer, programOf, withoutDot } from "./exported-server.ts";
import { type ExportOptions, formats } from "./formats.ts";

/** A file of a plan. */
export interface PlannedFile {
  /** Relative to the folder of the package, with `/`; absolute outside it. */
  shown: string;
  edit: Edit;
}

/** Unified; empty if nothing changes. */
export const formatEdit = ({ shown, edit: { before, after } }: PlannedFile): string =>
  formatLineDiff(shown, before, after);

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

/** The changes of package.json that make a program a command of the package. */
function addCommand({ manifest, shortName, name }: ExportedServer): ManifestChange[] {
  const program = programOf(name);
  const bins = readBins(shortName, manifest);
  const isThere = [...bins.values()].some((path) => withoutDot(path) === program);
  const dependencies = isRecord(manifest.dependencies) ? manifest.dependencies : {};
  const needsHost = !Object.hasOwn(dependencies, "trailblaze") && manifest.name !== "trailblaze";
  // The first command has the name of the package, so that npx runs it.
  const command = bins.size === 0 ? shortName : `${shortName}-${name}`;
  const changes: ManifestChange[] = [];
  if (!isThere && typeof manifest.bin === "string")
    changes.push({
      path: ["bin"],
      value: { ...Object.fromEntries(bins), [command]: program },
      replaces: true,
    });
  else if (!isThere) changes.push({ path: ["bin", command], value: program });
  if (needsHost) changes.push({ path: ["dependencies", "trailblaze"], value: `^${hostVersion}` });
  return changes;
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
  const { location } = pack.pack;
  const out = options.out ?? location;
  const isProgram = format === "bin";
  if (isProgram && out !== location) {
    const hint = "Omit --out.";
    throw failure("InvalidArguments", { reason: "The program of a server belongs into its package", hint });
  }
  const server = describeServer(pack, serverName);
  const { files, problems } = create(server, options);
  const planned = Object.entries(files).map(([inside, content]): PlannedFile => {
    const path = resolve(out, inside);
    const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
    const shown = pathIn(location, path) ?? path;
    const conflict = () => failure("ExportConflict", { file: shown }, { file: shown });
    // A folder, a pipe or a link to nothing.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw conflict();
    const edit = { ...planEdit(path, text), isProgram };
    if (edit.before !== undefined && isChange(edit) && !options.force) throw conflict();
    return { shown, edit };
  });
  const published = planned.flatMap(({ edit }) => pathIn(location, edit.file) ?? []);
  const changes = [...(isProgram ? addCommand(server) : []), ...publishFiles(server.manifest, published)];
  const file = join(location, "package.json");
  const before = readTextFile(file) ?? "";
  const after = editManifest(before, pack.manifest.value, changes, options.force);
  const manifest = { shown: "package.json", edit: { file, before, after } };
  return {
    format,
    server: server.qualifiedName,
    files: after === before ? planned : [...planned, manifest],
    problems,
  };
}
