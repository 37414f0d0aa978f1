// Copies of the skills of a session in the folder where a client reads skills. A link would show the client what is installed, not
// what was approved.
import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../data/parse-json.ts";
import { findProject } from "../discovery/project.ts";
import { describeConfigError } from "../files/edit.ts";
import { attempt } from "../files/file-errors.ts";
import { lockFile } from "../files/file-lock.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { makeFolders, readText } from "../files/write-files.ts";
import { createProblem, failure, TrailblazeError } from "../problems/index.ts";
import { makeSafeName } from "../qualified-names/advertised-names.ts";
import type { SkillItem } from "../session/items.ts";
import { fullNameOf } from "../session/names.ts";
import { Session } from "../session/session.ts";
import { digestOf, readSkillFiles } from "../skills/read-skill.ts";
import { digestsOf } from "../skills/skill-entry.ts";
import { findClient, type Scope } from "./clients/index.ts";
import { readHost } from "./clients/locations.ts";
import { refuseLinkOut } from "./plan-install.ts";

const markerFile = ".trailblaze";

/** What a marker says. `source`: a qualified name, or `LABEL/NAME`. `project`: whose copy it is, in the user's home. */
interface Marker {
  source: string;
  project?: string;
  files: Record<string, string>;
}

type WantedCopy = readonly [skill: SkillItem, marker: Marker];

const find = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** What a folder has under a name: a copy, or with `fault` what stays. A link is no copy. */
function readCopy(folder: string, name: string): { marker?: Marker; fault?: "edited" | "foreign" } {
  const copy = join(folder, name);
  const stats = find(copy);
  if (stats === undefined) return {};
  const read = () => JSON.parse(readText(join(copy, markerFile)) ?? "");
  const marker: unknown = stats.isDirectory() ? attempt(read) : undefined;
  if (!isRecord(marker) || typeof marker.source !== "string" || !isRecord(marker.files))
    return { fault: "foreign" };
  const isMarker = (path: string) => path === markerFile;
  const files = attempt(() => readSkillFiles(port, realpathSync(folder), name, isMarker));
  const digests = files && Object.fromEntries([...files].map(([path, content]) => [path, digestOf(content)]));
  const isIntact = isDeepStrictEqual(digests, marker.files);
  return { marker: marker as unknown as Marker, fault: isIntact ? undefined : "edited" };
}

async function writeCopy(session: Session, target: string, [skill, marker]: WantedCopy): Promise<void> {
  const { calls, state } = Session.frameOf(session);
  const { route } = skill;
  // Clients pass over names that begin with a dot.
  const draft = join(dirname(target), `${markerFile}.new`);
  const copy = join(draft, "copy");
  const clear = () => rmSync(draft, { recursive: true, force: true });
  clear();
  try {
    for (const path of Object.keys(marker.files)) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      // Who may run it: a server does not say.
      const original =
        route.by === "code" ? find(join(route.owner.root, route.code.folder, path)) : undefined;
      // Not by its name, which a skill of another server may have, too.
      const content = await calls.readSkillFile(skill, path, { scope: calls.own, state: state() });
      writeFileSync(join(copy, path), content, { mode: 0o666 | ((original?.mode ?? 0) & 0o111) });
    }
    writeFileSync(join(copy, markerFile), `${JSON.stringify(marker, null, 2)}\n`);
    // A part of a copy would look like one that was edited, and stay.
    if (find(target) !== undefined) renameSync(target, join(draft, "old"));
    renameSync(copy, target);
  } finally {
    clear();
  }
}

/** The name of the folder of a skill whose own name means others, too. */
const longNameOf = (skill: SkillItem) => makeSafeName(fullNameOf(skill).replaceAll("/", "-"));

/** The skills of a session by their names, or all that say which files they have, by the names of their folders. */
function collectWanted(
  session: Session,
  names: readonly string[],
  project: string | undefined,
): ReadonlyMap<string, WantedCopy> {
  const state = Session.frameOf(session).state();
  const all = state.of("skill");
  const hasFiles = ({ shown }: SkillItem) => shown.files.length > 0;
  const chosen =
    names.length === 0 ? all.filter(hasFiles) : names.map((name) => state.parts.names.skill.resolve(name));
  const copies = chosen.map((skill) => {
    const source = fullNameOf(skill);
    if (!hasFiles(skill)) throw failure("InvalidArguments", { reason: `${source} does not list its files` });
    const { name } = skill.shown;
    const isTaken = all.some((one) => one !== skill && [one.shown.name, longNameOf(one)].includes(name));
    // What a server has under the marker's name is left out.
    const files = skill.shown.files.filter(({ path }) => path !== markerFile);
    const marker = { source, ...(project && { project }), files: digestsOf(files) };
    return [isTaken ? longNameOf(skill) : name, [skill, marker]] as const;
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
  { cwd, scope = "project", isDryRun }: { cwd: string; scope?: Scope | undefined; isDryRun: boolean },
) {
  const { id, name: client, skills } = findClient(clientName);
  const { directory } = findProject(port, cwd);
  const root = scope === "user" ? readHost().home : directory;
  if (skills === undefined) {
    const reason = `Trailblaze does not know that ${client} reads skills from a folder`;
    const hint = "It can load skills with the tool of `start --skill-tool`.";
    throw failure("InvalidArguments", { reason, hint });
  }
  if (root === undefined)
    throw failure("InvalidArguments", { reason: "The home folder is not known: HOME is not set" });
  const folder = join(root, skills);
  await refuseLinkOut(folder, { scope, cwd });
  // By the names of folders: what is there now as it should be, what was removed, and what stays although it is no copy, or was edited.
  const installed: string[] = [];
  const removed: string[] = [];
  const kept: string[] = [];
  // Why skills are left out, and copies stay.
  const problems = session?.problems.filter(({ kind }) => kind === "skill") ?? [];
  const project = scope === "user" ? directory : undefined;
  const wanted = session ? collectWanted(session, names, project) : new Map<string, WantedCopy>();
  const isRemoved = ({ source, project: owner }: Marker, name: string) =>
    session === undefined
      ? names.length === 0 || names.some((one) => one === name || `/${source}`.endsWith(`/${one}`))
      : names.length === 0 && owner === project;
  const change = async (name: string) => {
    const file = join(folder, name);
    const copy = wanted.get(name);
    const { marker, fault } = readCopy(folder, name);
    if (copy === undefined && !(marker && isRemoved(marker, name))) return;
    if (fault !== undefined) {
      kept.push(name);
      const args = { file, key: name, owner: undefined, copy: fault };
      problems.push(createProblem("ClientConfigConflict", args, { file }));
    } else if (copy === undefined || session === undefined) {
      if (!isDryRun) rmSync(file, { recursive: true });
      removed.push(name);
    } else {
      if (!isDryRun && !isDeepStrictEqual(marker, copy[1])) await writeCopy(session, file, copy);
      installed.push(name);
    }
  };
  let release: (() => void) | undefined;
  try {
    if (wanted.size > 0 && !isDryRun) makeFolders(folder);
    if (find(folder) !== undefined && !isDryRun) release = await lockFile(join(folder, markerFile));
    for (const name of new Set([...wanted.keys(), ...(attempt(() => readdirSync(folder).sort()) ?? [])]))
      await change(name).catch((error: unknown) => {
        // A skill that cannot be read keeps no other from being copied.
        if (!(error instanceof TrailblazeError)) throw error;
        problems.push(error.problem);
      });
  } catch (error) {
    throw describeConfigError(error, folder);
  } finally {
    release?.();
  }
  return { client: id, folder, installed, removed, kept, problems };
}
