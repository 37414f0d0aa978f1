import { isRecord, parseJson } from "../data/parse-json.ts";
import type { SourceText, UnlocatedProblem } from "../data/source-text.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { createProblem } from "../problems/index.ts";
import { type FoundSkill, findSkills } from "../skills/find-skills.ts";
import { instructionsFile, ownFolder } from "../skills/skill-folders.ts";
import { ancestorsOf } from "./project.ts";
import { type FoundPack, isUnasked } from "./types.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The skills of a package that count: those that the field names, or all of them. `problems` are those of names without a skill,
 * and of skills with the same name. `source`: of its package.json.
 */
export function describeSkills(
  port: DiscoveryPort,
  { location, name: pack }: { location: string; name: string },
  { isSource, field, source }: { isSource: boolean; field: unknown; source: SourceText },
  declared: readonly Declaration[],
): { skills: FoundSkill[]; declarations: Declaration[]; problems: UnlocatedProblem[] } {
  const { skills, shadowed } = findSkills(port, location, { isDependency: !isSource });
  const isNarrowed = isRecord(field) && field.skills !== undefined;
  const named = new Map(declared.map((one) => [one.name, one]));
  const counts = ({ name }: FoundSkill) => !isNarrowed || named.has(name);
  const chosen = skills.filter(counts);
  const missing = declared.filter(({ name }) => !skills.some((skill) => skill.name === name));
  return {
    skills: chosen,
    declarations: chosen.map(
      ({ name }) => named.get(name) ?? { kind: "skill", name, description: null, path: [], extra: {} },
    ),
    problems: [
      ...missing.map(({ name, path }) => {
        const file = `${ownFolder}/${name}/${instructionsFile}`;
        const args = { name, own: file, combined: file, isSkill: true };
        const place = { pack, kind: "skill", item: name, file, path } as const;
        const problem = createProblem("MissingDefinitionFile", args, place);
        return { problem, source, at: ["trailblaze", ...path] };
      }),
      ...shadowed.filter(counts).map(({ name, folder }) => {
        const combined = `${folder}/${instructionsFile}`;
        const first = skills.find((one) => one.name === name)?.folder;
        const args = { name, file: `${first}/${instructionsFile}`, combined };
        const place = { pack, kind: "skill", item: name, file: combined } as const;
        return { problem: createProblem("ShadowedDefinition", args, place), source: undefined, at: [] };
      }),
    ],
  };
}

/** The names of packs of which the nearest lock approves skills. A lock that cannot be read approves none. */
function readApproved(port: DiscoveryPort, { project, root }: Workspace): ReadonlySet<string> {
  for (const folder of ancestorsOf(project.directory)) {
    const bytes = port.readProjectFile(folder, "trailblaze.lock");
    if (bytes === undefined && folder !== root) continue;
    try {
      const { value } = parseJson(Buffer.from(bytes ?? []).toString());
      const packs = isRecord(value) && isRecord(value.packs) ? Object.entries(value.packs) : [];
      return new Set(
        packs.flatMap(([name, entry]) => (isRecord(entry) && isRecord(entry.skills) ? name : [])),
      );
    } catch {
      break;
    }
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
