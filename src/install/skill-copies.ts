// Copies of the skills of a session in the folder where a client reads skills. A link would show the client what is installed, not
// what was approved.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeDiscoveryPort } from "../files/node-discovery-port.ts";
import { explainFileError, makeFolders } from "../files/write-files.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { makeSafeName } from "../qualified-names/advertised-names.ts";
import type { SkillItem } from "../session/items.ts";
import { Session } from "../session/session.ts";
import { fullNameOf, isAmbiguous } from "../session/session-skills.ts";
import { digestOf } from "../skills/read-skill.ts";
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

/** The file in a copy that says of what it is one, and what was copied. */
const markerFile = ".trailblaze";
/** How much of a copy is looked at; more than a skill has. */
const most = { files: 1000, bytes: 16 << 20 } as const;

type Digests = Readonly<Record<string, string>>;

/** A folder that is a copy. `source`: a qualified name, or `LABEL/NAME`. `project`: whose it is, in the user's home. */
interface Copy {
  source: string;
  project: unknown;
  /** Of the files that it has now; `undefined` if it has anything else. */
  digests: Digests | undefined;
  isEdited: boolean;
}

/** A skill to copy into a folder of this name. */
interface CopiedSkill {
  name: string;
  source: string;
  files: Digests;
  read(path: string): Promise<string | Uint8Array>;
}

function digestFiles(folder: string): Digests | undefined {
  const digests = new Map<string, string>();
  const visit = (path: string): boolean =>
    readdirSync(join(folder, path), { withFileTypes: true }).every((entry) => {
      const inner = path === "" ? entry.name : `${path}/${entry.name}`;
      if (inner === markerFile) return true;
      if (entry.isDirectory()) return visit(inner);
      if (!entry.isFile() || digests.size === most.files) return false;
      if (lstatSync(join(folder, inner)).size > most.bytes) return false;
      digests.set(inner, digestOf(readFileSync(join(folder, inner))));
      return true;
    });
  return visit("") ? Object.fromEntries(digests) : undefined;
}

const isSame = (one: Digests, other: Digests | undefined) => {
  const paths = Object.keys(one);
  return (
    paths.length === Object.keys(other ?? {}).length && paths.every((path) => one[path] === other?.[path])
  );
};

const find = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** The copy in a folder; `foreign` for what is none, such as a link, and `undefined` for nothing. */
function readCopy(folder: string): Copy | "foreign" | undefined {
  const stats = find(folder);
  if (stats === undefined) return undefined;
  const marker = join(folder, markerFile);
  if (!stats.isDirectory() || find(marker)?.isFile() !== true) return "foreign";
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(marker, "utf8"));
  } catch {}
  if (!isRecord(value) || typeof value.source !== "string" || !isRecord(value.files)) return "foreign";
  const digests = digestFiles(folder);
  const { source, project } = value;
  return { source, project, digests, isEdited: !isSame(value.files as Digests, digests) };
}

/** Replaces a folder, or makes it. */
async function writeCopy(target: string, skill: CopiedSkill, project: string | undefined): Promise<void> {
  const { source, files, read } = skill;
  makeFolders(dirname(target));
  // Clients pass over names that begin with a dot.
  const draft = mkdtempSync(join(dirname(target), markerFile));
  const copy = join(draft, "new");
  try {
    for (const path of Object.keys(files)) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), await read(path));
    }
    writeFileSync(join(copy, markerFile), `${JSON.stringify({ source, project, files }, null, 2)}\n`);
    if (find(target) !== undefined) renameSync(target, join(draft, "old"));
    renameSync(copy, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Makes copies of skills, and removes other copies. `project`: see `Copy`. */
async function applyCopies(
  result: CopiesResult,
  { project, isDryRun }: { project: string | undefined; isDryRun: boolean },
  skills: readonly CopiedSkill[],
  isRemoved: (name: string, copy: Copy) => boolean,
): Promise<CopiesResult> {
  const { folder, installed, removed, kept, problems } = result;
  const keep = (name: string, copy: "edited" | "foreign") => {
    const file = join(folder, name);
    kept.push(name);
    problems.push(
      createProblem("ClientConfigConflict", { file, key: name, owner: undefined, copy }, { file }),
    );
  };
  for (const skill of skills) {
    const { name, source, files } = skill;
    const copy = readCopy(join(folder, name));
    const isCurrent = copy !== undefined && copy !== "foreign" && isSame(files, copy.digests);
    if (copy === "foreign" || (copy?.isEdited && !isCurrent)) {
      keep(name, copy === "foreign" ? copy : "edited");
      continue;
    }
    installed.push(name);
    const isMarked = copy?.source === source && copy.project === project && !copy.isEdited;
    if (!isDryRun && !(isCurrent && isMarked)) await writeCopy(join(folder, name), skill, project);
  }
  const names = new Set(skills.map(({ name }) => name));
  for (const name of find(folder) === undefined ? [] : readdirSync(folder).sort()) {
    const copy = names.has(name) ? undefined : readCopy(join(folder, name));
    if (copy === undefined || copy === "foreign" || !isRemoved(name, copy)) continue;
    if (copy.isEdited) keep(name, "edited");
    else {
      removed.push(name);
      if (!isDryRun) rmSync(join(folder, name), { recursive: true });
    }
  }
  return result;
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

/** The skills of a session by their names, or all that say which files they have. */
function collectSkills(session: Session, names: readonly string[]): CopiedSkill[] {
  const { frame, calls } = Session.partsOf(session);
  const state = frame.state();
  const all = state.of("skill");
  const hasFiles = ({ listing }: SkillItem) => listing.resources !== "dynamic";
  const chosen = names.length === 0 ? all.filter(hasFiles) : names.map((name) => state.resolveSkill(name));
  return chosen.map((skill) => {
    const source = fullNameOf(skill);
    if (!hasFiles(skill)) throw failure("InvalidArguments", { reason: `${source} does not list its files` });
    const { name, files } = skill.shown;
    return {
      name: isAmbiguous(skill, all) ? makeSafeName(source.replaceAll("/", "-")) : name,
      source,
      files: Object.fromEntries(files.map(({ path, digest }) => [path, digest])),
      read: (path) => calls.readSkill(skill, path, { scope: calls.own, state }),
    };
  });
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
  const directory = findProject(createNodeDiscoveryPort(), cwd).directory;
  const folder = findFolder(client, scope, directory);
  await refuseLinkOut(folder, { scope, cwd });
  const project = scope === "user" ? directory : undefined;
  // Why skills are left out.
  const problems = session?.problems.filter(({ kind }) => kind === "skill") ?? [];
  const result = { client: client.id, folder, installed: [], removed: [], kept: [], problems };
  const isNamed = (name: string, { source }: Copy) =>
    names.some((one) => one === name || source === one || source.endsWith(`/${one}`));
  const isRemoved = (name: string, copy: Copy) =>
    session === undefined
      ? names.length === 0 || isNamed(name, copy)
      : names.length === 0 && copy.project === project;
  try {
    const skills = session === undefined ? [] : collectSkills(session, names);
    return await applyCopies(result, { project, isDryRun }, skills, isRemoved);
  } catch (error) {
    const reason = explainFileError(error);
    if (reason === undefined) throw error;
    throw failure("ClientConfigUnwritable", { file: folder, reason }, { file: folder }, { cause: error });
  }
}
