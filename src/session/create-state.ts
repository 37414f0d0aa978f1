import { locateInConfig } from "../config/config-file.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { readBins } from "../qualified-names/reserved-commands.ts";
import { collectToolsets } from "./collect-toolsets.ts";
import { findShownToolsets, selectFitting } from "./excluded.ts";
import { type Contribution, isOf, type SessionItem } from "./items.ts";
import { giveNames, type NameContext, Names } from "./names.ts";
import { type ProjectReading, sourcesOf } from "./read-project.ts";
import { collectServer, ServerSource } from "./server-source.ts";
import type { SessionFrame } from "./session-processes.ts";
import { collectEntries, SessionState } from "./session-state.ts";
import { findUnmatchedPatterns } from "./unmatched-patterns.ts";

/** What a part offers now. A state names its tools itself. */
const collect = (part: Contribution | ServerSource): Contribution =>
  part instanceof ServerSource ? collectServer(part) : { ...part, items: part.items.map(copy) };

const copy = <Item extends SessionItem>(item: Item): Item => ({ ...item, shown: { ...item.shown } });

/** The patterns of the config that match nothing installed: walks only if some match nothing that was read. */
async function findUnmatched(reading: ProjectReading, cwd: string): Promise<Problem[]> {
  const { config, found, packs, createRegistry } = reading;
  const servers = sourcesOf(reading);
  const find = (all: ProjectReading["found"]) =>
    findUnmatchedPatterns({ config, found: all.packs, packs, servers, registry: createRegistry(all) });
  const unmatched = find(found);
  if (unmatched.length === 0) return unmatched;
  return find(await findPacks(createNodeInspectionPort(), { cwd, policy: config.packs, all: true }));
}

/** The error for a package that is installed: it is not a pack, or not declared. `undefined` for other names. */
function explainPackage(project: string, name: string): TrailblazeError | undefined {
  const port = createNodeInspectionPort();
  const read = readUsableManifest(port, resolveFrom(port, project, name));
  if (read === undefined) return undefined;
  if (read.value.trailblaze !== undefined)
    return failure("PackNotInstalled", { name, isUndeclared: true }, { pack: name });
  return failure("ExtensionNotFound", { name, mayBeServer: readBins(name, read.value).size > 0 });
}

/**
 * A state with the tools of the servers that have started, and of those that start when they are needed. Throws `TrailblazeError`:
 * `NameCollision`, and `ToolsetNotFound` unless a server could still provide the toolset or the state is not the first one.
 * `startOthers` resolves with a state that has all servers.
 */
export async function createState(
  reading: ProjectReading,
  { cwd, options, resources, rules: { only } }: SessionFrame,
  isFirst: boolean,
  startOthers: () => Promise<SessionState>,
): Promise<SessionState> {
  const { config, packs, registry, isPartial } = reading;
  const { nameCollisions } = config;
  const sources = sourcesOf(reading);
  const contributions = reading.parts.map(collect);
  const refusal = only && sources.flatMap(({ offer }) => offer?.refusal ?? [])[0];
  if (refusal !== undefined) throw new TrailblazeError(refusal);
  const isPending = sources.some(
    ({ server, isLazy }) => server.said === undefined && !server.fault && !isLazy,
  );
  const { fitting: items, skipped: unfit } = selectFitting(
    contributions.flatMap((one) => one.items),
    only === undefined ? config : undefined,
  );
  const tools = items.filter(isOf("tool"));
  const collided =
    giveNames(tools, nameCollisions) ?? giveNames(items.filter(isOf("prompt")), nameCollisions, "prompt");
  // A session for known calls names no tool by a name that others have, too.
  if (collided !== undefined && !reading.isForCalls) throw collided;
  const context: NameContext = {
    config,
    registry,
    skipped: [...contributions.flatMap((one) => one.skipped), ...unfit],
    explainPackage: (name) => explainPackage(config.project, name),
  };
  const names = new Names("tool", tools, context);
  const collected = collectToolsets({ config, packs, registered: tools, names, registry });
  const problems = contributions.flatMap((one) => one.problems);
  if (collided !== undefined && !isPartial) problems.push(collided.problem);
  // A problem without a pack is in the config, or in the options.
  const isOfConfig = ({ pack, path }: Problem) => pack === undefined && path !== undefined;
  // Toolsets may refer to tools of servers that have not started, and patterns match them.
  const isComplete = !isPartial && !isPending && only === undefined;
  const ofConfig = [...problems.filter(isOfConfig), ...(isComplete ? collected.configProblems : [])];
  const unmatched = isComplete ? await findUnmatched(reading, cwd) : [];
  const { toolsets } = collected;
  for (const { shown } of tools)
    shown.toolsets = toolsets.filter((one) => one.tools.includes(shown.name)).map(({ name }) => name);
  const mustExist = isFirst && !isPending;
  return new SessionState({
    ...context,
    items,
    resourceServers: sources.filter(({ offer }) => offer !== undefined && offer.refusal === undefined),
    toolsets,
    shownToolsets: findShownToolsets(options.toolsets, toolsets, { mustExist }),
    problems: [
      // First, because a `deny` that matches nothing excludes nothing.
      ...(await resources.step(locateInConfig(unmatched, config.text))),
      ...reading.problems,
      ...problems.filter((problem) => !isOfConfig(problem)),
      ...(isComplete ? collected.problems : []),
      ...(await resources.step(locateInConfig(ofConfig, config.text))),
    ],
    servers: collectEntries(config, packs, reading.excluded, sources),
    instructions: only && sources.flatMap(({ offer }) => offer?.instructions ?? [])[0],
    packs,
    startOthers: isPartial ? startOthers : undefined,
  });
}
