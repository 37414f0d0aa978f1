// Copies of the skills of a session in the folder where a client reads skills. A link would show the client what is installed, not
// what was approved.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { describeConfigError } from "../files/edit.ts";
import { attempt } from "../files/file-errors.ts";
import { lockFile } from "../files/file-lock.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { makeFolders } from "../files/write-files.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { makeSafeName } from "../qualified-names/advertised-names.ts";
import type { SkillItem } from "../session/items.ts";
import { fullNameOf } from "../session/names.ts";
import { Session } from "../session/session.ts";
import { digestOf, readSkillFiles } from "../skills/read-skill.ts";
import { digestsOf } from "../skills/skill-entry.ts";
import type { ClientRecord, Scope } from "./clients/client.ts";
import { findClient } from "./clients/index.ts";
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

/** What to copy into a folder. */
interface WantedCopy {
  marker: Marker;
  skill: SkillItem;
  read(path: string): Promise<string | Uint8Array>;
}

const port = createNodeInspectionPort();
const find = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** The copy in a folder; `foreign` for what is none, such as a link, and `undefined` for nothing. */
function readCopy(
  folder: string,
  name: string,
): { marker: Marker; isEdited: boolean } | "foreign" | undefined {
  const stats = find(join(folder, name));
  const location = port.realPath(folder);
  if (stats === undefined || location === undefined) return undefined;
  const read = stats.isDirectory() ? port.readFile(join(location, name), markerFile) : undefined;
  const bytes = read?.state === "read" ? read.bytes : new Uint8Array();
  const marker: unknown = attempt(() => JSON.parse(Buffer.from(bytes).toString()));
  if (!isRecord(marker) || typeof marker.source !== "string" || !isRecord(marker.files)) return "foreign";
  const files = attempt(() => readSkillFiles(port, location, name, (path) => path === markerFile));
  const digests = files && Object.fromEntries([...files].map(([path, content]) => [path, digestOf(content)]));
  return { marker: marker as unknown as Marker, isEdited: !isDeepStrictEqual(digests, marker.files) };
}

/** Replaces a folder, or makes it. */
async function writeCopy(target: string, { marker, skill: { route }, read }: WantedCopy): Promise<void> {
  // Clients pass over names that begin with a dot.
  const draft = mkdtempSync(join(dirname(target), markerFile));
  const copy = join(draft, "new");
  try {
    for (const path of Object.keys(marker.files)) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      // Who may run it: a server does not say.
      const original =
        route.by === "code" ? find(join(route.owner.root, route.code.folder, path)) : undefined;
      writeFileSync(join(copy, path), await read(path), { mode: 0o666 | ((original?.mode ?? 0) & 0o111) });
    }
    writeFileSync(join(copy, markerFile), `${JSON.stringify(marker, null, 2)}\n`);
    if (find(target) !== undefined) renameSync(target, join(draft, "old"));
    renameSync(copy, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The problem of a skill that cannot be read, which keeps no other from being copied. */
function asProblem(error: unknown): Problem {
  if (error instanceof TrailblazeError) return error.problem;
  throw error;
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
    if (copy === "foreign" || copy?.isEdited) keep(name, copy === "foreign" ? copy : "edited");
    else {
      const isCurrent = isDeepStrictEqual(copy?.marker, one.marker);
      const fault =
        isDryRun || isCurrent ? undefined : await writeCopy(join(folder, name), one).catch(asProblem);
      if (fault === undefined) installed.push(name);
      else problems.push(fault);
    }
  }
  for (const name of attempt(() => readdirSync(folder).sort()) ?? []) {
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
    const reason = `Trailblaze does not know that ${name} reads skills from a folder`;
    const hint = "It can load skills with the tool of `start --skill-tool`.";
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
    const read = (path: string) => calls.readSkillFile(skill, path, { scope: calls.own, state });
    return [folder, { marker: { source, ...project, files: digestsOf(files) }, skill, read }] as const;
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
    names.length > 0 ? !session && isNamed(name, marker) : !session || marker.project === project;
  const wanted = session && collectWanted(session, names, project === undefined ? {} : { project });
  let release: (() => void) | undefined;
  try {
    if (wanted?.size && !isDryRun) makeFolders(folder);
    if (find(folder) !== undefined && !isDryRun) release = await lockFile(join(folder, markerFile));
    await applyCopies(result, wanted ?? new Map(), isRemoved, isDryRun);
  } catch (error) {
    throw describeConfigError(error, folder);
  } finally {
    release?.();
  }
  return result;
}
