// Copies of the skills of a session in the folder where a client reads skills. A link would show the client what is installed, not
// what was approved.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { explainFileError, makeFolders } from "../files/write-files.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { makeSafeName } from "../qualified-names/advertised-names.ts";
import type { SkillItem } from "../session/items.ts";
import { Session } from "../session/session.ts";
import { fullNameOf } from "../session/session-skills.ts";
import { digestOf, readSkillFiles, SkillFault } from "../skills/read-skill.ts";
import { digestsOf } from "../skills/skill-entry.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import { clients, findClient } from "./clients/index.ts";
import { expandPath, readHost } from "./clients/locations.ts";
import { refuseLinkOut } from "./plan-install.ts";

/** What was done, by the names of folders. */
export interface CopiesResult {
  client: string;
  /** Absolute path of the folder with the copies. */
  folder: string;
  /** The copies that are there now, as they should be. */
  installed: string[];
  removed: string[];
  /** What stays although it is no copy, or was edited. */
  kept: string[];
  problems: Problem[];
}

/** Where copies lie. `scope` is `project` unless it is given. */
export interface CopiesOptions {
  cwd: string;
  scope?: Scope | undefined;
  isDryRun: boolean;
}

/** The file in a copy that says what was copied. */
const markerFile = ".trailblaze";

/** What a marker says. `source`: a qualified name, or `LABEL/NAME`. `project`: whose copy it is, in the user's home. */
interface Marker {
  source: string;
  project?: string;
  /** The digests of the files, by path. */
  files: Record<string, string>;
}

/** A folder that is a copy. */
interface Copy {
  marker: Marker;
  /** Of the files that it has now; `undefined` if it has what no skill has. */
  files: Record<string, string> | undefined;
  isEdited: boolean;
}

/** What to copy into a folder. */
interface WantedCopy {
  marker: Marker;
  read(path: string): Promise<string | Uint8Array>;
}

const port = createNodeInspectionPort();
const find = (path: string) => lstatSync(path, { throwIfNoEntry: false });

function digestFiles(location: string, name: string): Copy["files"] {
  try {
    const files = readSkillFiles(port, location, name, (path) => path === markerFile);
    return Object.fromEntries([...files].map(([path, bytes]) => [path, digestOf(bytes)]));
  } catch (error) {
    if (error instanceof SkillFault) return undefined;
    throw error;
  }
}

/** The copy in a folder; `foreign` for what is none, such as a link, and `undefined` for nothing. */
function readCopy(folder: string, name: string): Copy | "foreign" | undefined {
  const stats = find(join(folder, name));
  if (stats === undefined) return undefined;
  const location = port.realPath(folder);
  if (!stats.isDirectory() || location === undefined) return "foreign";
  const read = port.readFile(join(location, name), markerFile);
  let marker: unknown;
  try {
    if (read.state === "read") marker = JSON.parse(Buffer.from(read.bytes).toString());
  } catch {}
  if (!isRecord(marker) || typeof marker.source !== "string" || !isRecord(marker.files)) return "foreign";
  const files = digestFiles(location, name);
  const isEdited = !isDeepStrictEqual(files, marker.files);
  return { marker: marker as unknown as Marker, files, isEdited };
}

/** Replaces a folder, or makes it. */
async function writeCopy(target: string, { marker, read }: WantedCopy): Promise<void> {
  makeFolders(dirname(target));
  // Clients pass over names that begin with a dot.
  const draft = mkdtempSync(join(dirname(target), markerFile));
  const copy = join(draft, "new");
  try {
    for (const path of Object.keys(marker.files)) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), await read(path));
    }
    writeFileSync(join(copy, markerFile), `${JSON.stringify(marker, null, 2)}\n`);
    if (find(target) !== undefined) renameSync(target, join(draft, "old"));
    renameSync(copy, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Makes copies, by the names of their folders, and removes others. */
async function applyCopies(
  { folder, installed, removed, kept, problems }: CopiesResult,
  wanted: ReadonlyMap<string, WantedCopy>,
  isRemoved: (name: string, marker: Marker) => boolean,
  isDryRun: boolean,
): Promise<void> {
  const keep = (name: string, copy: "edited" | "foreign") => {
    const file = join(folder, name);
    const args = { file, key: name, owner: undefined, copy };
    kept.push(name);
    problems.push(createProblem("ClientConfigConflict", args, { file }));
  };
  for (const [name, one] of wanted) {
    const copy = readCopy(folder, name);
    if (copy === "foreign") keep(name, copy);
    else if (copy?.isEdited && !isDeepStrictEqual(copy.files, one.marker.files)) keep(name, "edited");
    else {
      installed.push(name);
      const isCurrent = copy?.isEdited === false && isDeepStrictEqual(copy.marker, one.marker);
      if (!isDryRun && !isCurrent) await writeCopy(join(folder, name), one);
    }
  }
  for (const name of find(folder) === undefined ? [] : readdirSync(folder).sort()) {
    const copy = wanted.has(name) ? undefined : readCopy(folder, name);
    if (copy === undefined || copy === "foreign" || !isRemoved(name, copy.marker)) continue;
    if (copy.isEdited) keep(name, "edited");
    else {
      removed.push(name);
      if (!isDryRun) rmSync(join(folder, name), { recursive: true });
    }
  }
}

/** The folder of a client's skills. Throws `InvalidArguments` for a client that reads none, and without HOME. */
function findFolder({ name, skills }: ClientRecord, scope: Scope, project: string): string {
  if (skills === undefined) {
    const others = clients.flatMap((one) => (one.skills === undefined ? [] : one.id)).join(", ");
    const reason = `Trailblaze does not know that ${name} reads skills from a folder`;
    const hint = `These clients do: ${others}. Others can load skills with the tool of \`start --skill-tool\`.`;
    throw failure("InvalidArguments", { reason, hint });
  }
  const folder = expandPath(`${scope === "user" ? "~" : "."}/${skills}`, readHost(), project);
  if (folder !== undefined) return folder;
  throw failure("InvalidArguments", { reason: "The home folder is not known: HOME is not set" });
}

/** The name of the folder of a skill whose own name means others, too. */
const longNameOf = (skill: SkillItem) => makeSafeName(fullNameOf(skill).replaceAll("/", "-"));

/** The skills of a session by their names, or all that say which files they have. */
function collectWanted(
  session: Session,
  names: readonly string[],
  project: object,
): ReadonlyMap<string, WantedCopy> {
  const { frame, calls } = Session.partsOf(session);
  const state = frame.state();
  const all = state.of("skill");
  const hasFiles = ({ listing }: SkillItem) => listing.resources !== "dynamic";
  const chosen = names.length === 0 ? all.filter(hasFiles) : names.map((name) => state.resolveSkill(name));
  const copies = chosen.map((skill) => {
    const source = fullNameOf(skill);
    if (!hasFiles(skill)) throw failure("InvalidArguments", { reason: `${source} does not list its files` });
    const { name } = skill.shown;
    const isTaken = all.some((one) => one !== skill && [one.shown.name, longNameOf(one)].includes(name));
    const folder = isTaken ? longNameOf(skill) : name;
    // What a server has under the marker's name is left out.
    const files = skill.shown.files.filter(({ path }) => path !== markerFile);
    const read = (path: string) => calls.readSkill(skill, path, { scope: calls.own, state });
    return [folder, { marker: { source, ...project, files: digestsOf(files) }, read }] as const;
  });
  return new Map(copies);
}

/**
 * Copies the skills of a session into the folder of a client: the named ones, or all of them, and then removes the copies of
 * others. Without a session, removes copies: the named ones, or all of them. Rejects with `TrailblazeError`: `UnknownClient`,
 * `InvalidArguments`, `ClientConfigUnwritable`, and as `session.readSkill`.
 */
export async function changeCopies(
  clientName: string,
  names: readonly string[],
  session: Session | undefined,
  { cwd, scope = "project", isDryRun }: CopiesOptions,
): Promise<CopiesResult> {
  const client = findClient(clientName);
  const { directory } = findProject(port, cwd);
  const folder = findFolder(client, scope, directory);
  await refuseLinkOut(folder, { scope, cwd });
  const project = scope === "user" ? directory : undefined;
  // Why skills are left out.
  const problems = session?.problems.filter(({ kind }) => kind === "skill") ?? [];
  const result: CopiesResult = { client: client.id, folder, installed: [], removed: [], kept: [], problems };
  const isNamed = (name: string, { source }: Marker) =>
    names.some((one) => one === name || source === one || source.endsWith(`/${one}`));
  const isRemoved = (name: string, marker: Marker) =>
    session === undefined
      ? names.length === 0 || isNamed(name, marker)
      : names.length === 0 && marker.project === project;
  const wanted = session && collectWanted(session, names, project === undefined ? {} : { project });
  try {
    await applyCopies(result, wanted ?? new Map(), isRemoved, isDryRun);
  } catch (error) {
    const reason = explainFileError(error);
    if (reason === undefined) throw error;
    throw failure("ClientConfigUnwritable", { file: folder, reason }, { file: folder }, { cause: error });
  }
  return result;
}
