import { isRecord, parseJson } from "../data/parse-json.ts";
import type { SourceText, UnlocatedProblem } from "../data/source-text.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { createProblem } from "../problems/index.ts";
import { findSkills } from "../skills/find-skills.ts";
import { instructionsFile, ownFolder } from "../skills/skill-folders.ts";
import { ancestorsOf } from "./project.ts";
import { type FoundPack, isUnasked } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Declares the skills of a package that count: those that the field names, or all of them, and of those with one name the first.
 * The others are problems, and names without a skill. `source`: of its package.json.
 */
export function declareSkills(
  port: DiscoveryPort,
  { location, name: pack }: { location: string; name: string },
  { isSource, field, source }: { isSource: boolean; field: unknown; source: SourceText },
  written: readonly Declaration[],
): { declarations: Declaration[]; problems: UnlocatedProblem[] } {
  const isNarrowed = isRecord(field) && field.skills !== undefined;
  const declared = new Map<string, Declaration>();
  const problems: UnlocatedProblem[] = [];
  for (const { name, ...skill } of findSkills(port, location, { isDependency: !isSource })) {
    const unwritten = { kind: "skill", name, description: null, path: [], extra: {} } as const;
    const own = written.find((one) => one.name === name) ?? (isNarrowed ? undefined : unwritten);
    const first = declared.get(name);
    if (own !== undefined && first === undefined) declared.set(name, { ...own, skill });
    if (own === undefined || first === undefined) continue;
    const combined = `${skill.folder}/${instructionsFile}`;
    const args = { name, file: `${first.skill?.folder}/${instructionsFile}`, combined };
    const place = { pack, kind: "skill", item: name, file: combined } as const;
    problems.push({ problem: createProblem("ShadowedDefinition", args, place), source: undefined, at: [] });
  }
  for (const { name, path } of written) {
    if (declared.has(name)) continue;
    const file = `${ownFolder}/${name}/${instructionsFile}`;
    const args = { name, own: file, combined: file, isSkill: true };
    const place = { pack, kind: "skill", item: name, file, path } as const;
    const problem = createProblem("MissingDefinitionFile", args, place);
    problems.push({ problem, source, at: ["trailblaze", ...path] });
  }
  return { declarations: [...declared.values()], problems };
}

/** The names of packs of which the nearest lock approves skills. A lock that cannot be read approves none. */
function readApproved(port: DiscoveryPort, { project, root }: Workspace): ReadonlySet<string> {
  for (const folder of ancestorsOf(project.directory)) {
    const bytes = port.readProjectFile(folder, "trailblaze.lock");
    if (bytes === undefined && folder !== root) continue;
    let lock: unknown;
    try {
      lock = parseJson(Buffer.from(bytes ?? []).toString()).value;
    } catch {}
    const packs = isRecord(lock) && isRecord(lock.packs) ? Object.entries(lock.packs) : [];
    return new Set(packs.flatMap(([name, entry]) => (isRecord(entry) && isRecord(entry.skills) ? name : [])));
  }
  return new Set();
}

/** Says of packs without the field that they wait for an approval. Only for these is the lock read. */
export function markUnapproved(
  packs: readonly FoundPack[],
  { port, workspace }: { port: DiscoveryPort; workspace: Workspace },
): void {
  const approved = readApproved(port, workspace);
  for (const found of packs)
    if (isUnasked(found) && found.pack.enabled === true && !approved.has(found.pack.name))
      found.pack.enabled = "approval";
}
