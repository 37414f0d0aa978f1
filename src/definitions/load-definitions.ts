import { describeType, isRecord } from "../data/parse-json.ts";
import type { FoundPack } from "../discovery/types.ts";
import { checkDefinition, type Declaration } from "../extension-schema/index.ts";
import type { Confinement, EvaluationPort } from "../io/evaluation-port.ts";
import type { InspectionPort } from "../io/inspection-port.ts";
import { createProblem, type Problem, type ProblemContext, type ProblemPlace } from "../problems/index.ts";
import { isData } from "./formats.ts";
import { type DefinitionFile, type LocatedItem, locateDefinitions } from "./locate-definitions.ts";
import { normalizeDefinition } from "./normalize-definition.ts";
import { placeInSources } from "./place-problems.ts";
import { describeFileFault, readData } from "./read-data.ts";
import type { InspectedItem, InspectedPack, SourceText } from "./types.ts";

export interface LoadOptions {
  /** Refuse definitions that are code instead of evaluating them. */
  dataOnly?: boolean;
  context?: ProblemContext;
  /** Only these declarations of the pack; default: all. */
  only?: readonly Declaration[];
  /** Makes the evaluator; called only if there is code to evaluate. */
  createEvaluator: () => Promise<EvaluationPort>;
}

/** What the definition files of a pack hold, each read once. */
interface FileContents {
  /** By file; a file that is missing here has a problem. */
  values: Map<string, unknown>;
  sources: Map<string, SourceText>;
  problems: Problem[];
  confinement: Confinement;
}

/** The place of problems with a file: a file of one item names the item. */
function placeOf(pack: string, { declaration, source }: LocatedItem): ProblemPlace {
  const place = { pack, kind: declaration.kind, ...(source ? { file: source.file } : {}) };
  return source?.combined ? place : { ...place, item: declaration.name };
}

async function readFiles(
  port: InspectionPort,
  { pack }: FoundPack,
  items: readonly LocatedItem[],
  { dataOnly = false, context = "operation", createEvaluator }: LoadOptions,
): Promise<FileContents> {
  const contents: FileContents = { values: new Map(), sources: new Map(), problems: [], confinement: "data" };
  const code = new Map<string, { file: DefinitionFile; place: ProblemPlace }>();
  const seen = new Set<string>();
  for (const item of items) {
    const { source } = item;
    if (source === undefined || seen.has(source.file)) continue;
    seen.add(source.file);
    const place = placeOf(pack.name, item);
    if (!isData(source.format) && dataOnly) {
      const args = { file: source.file, reason: "definitions that are code are refused" };
      contents.problems.push(createProblem("UnsupportedDefinitionFormat", args, place, context));
      continue;
    }
    const read = port.readFile(pack.location, source.file);
    const fault = describeFileFault(read, source.file, place, context);
    if (fault !== undefined || read.state !== "read") {
      if (fault !== undefined) contents.problems.push(fault);
    } else if (!isData(source.format)) {
      code.set(read.realPath, { file: source, place });
    } else {
      const data = await readData(source, read.bytes, place, context);
      if ("problem" in data) contents.problems.push(data.problem);
      else {
        contents.values.set(source.file, data.value);
        contents.sources.set(source.file, data.source);
      }
    }
  }
  if (code.size > 0) {
    const evaluator = await createEvaluator();
    const evaluation = await evaluator.evaluate({ packageRoot: pack.location, files: [...code.keys()] });
    contents.confinement = evaluation.confinement;
    for (const [path, { file, place }] of code) {
      const result = evaluation.results.get(path) ?? { reason: "it was not evaluated" };
      if ("value" in result) {
        contents.values.set(file.file, result.value);
        continue;
      }
      const { reason, ...position } = result;
      const fullPlace = { ...place, ...position };
      contents.problems.push(createProblem("InvalidDefinitionContents", { reason }, fullPlace, context));
    }
  }
  return contents;
}

/**
 * Reads and checks the definitions of every declared item. Nothing of the pack runs in this process; definitions that
 * are code are evaluated in one confined child. Trust level: inspection. Everything wrong is reported, nothing thrown.
 */
export async function loadDefinitions(
  port: InspectionPort,
  found: FoundPack,
  options: LoadOptions,
): Promise<InspectedPack> {
  const { context = "operation" } = options;
  const located = locateDefinitions(port, found, options);
  const contents = await readFiles(port, found, located.items, options);
  const problems = [...located.problems, ...contents.problems];
  const combined = new Map<string, Readonly<Record<string, unknown>>>();
  const shapeProblems: { item: InspectedItem; problem: Problem }[] = [];

  const items = located.items.map(({ declaration, source }): InspectedItem => {
    const item: InspectedItem = {
      declaration,
      qualifiedName: `${found.pack.qualifiedName}/${declaration.name}`,
      file: source?.file ?? null,
      format: source?.format,
      base: source?.combined ? [declaration.name] : [],
      shape: undefined,
      definition: null,
    };
    if (source === undefined || !contents.values.has(source.file)) return item;
    let content = contents.values.get(source.file);
    if (source.combined) {
      const place = { pack: found.pack.name, kind: declaration.kind, file: source.file };
      if (!isRecord(content)) {
        if (!combined.has(source.file)) {
          const reason = `it holds ${describeType(content)}, not a map from item names to definitions`;
          problems.push(createProblem("InvalidDefinitionContents", { reason }, place, context));
          combined.set(source.file, {});
        }
        return item;
      }
      combined.set(source.file, content);
      if (!Object.hasOwn(content, declaration.name)) {
        const args = { name: declaration.name, looked: [`${source.file} (key "${declaration.name}")`] };
        const fullPlace = { ...place, item: declaration.name };
        problems.push(createProblem("MissingDefinitionFile", args, fullPlace, context));
        return item;
      }
      content = content[declaration.name];
    }
    const checked = checkDefinition(declaration.kind, content, context);
    shapeProblems.push(...checked.problems.map((problem) => ({ item, problem })));
    item.shape = checked.shape;
    item.definition = checked.definition ? normalizeDefinition(checked.shape, checked.definition) : null;
    return item;
  });

  problems.push(...(await placeInSources(found.pack.name, contents.sources, shapeProblems)));
  return {
    ...found,
    items,
    problems,
    confinement: contents.confinement,
    files: located.kinds,
    sources: contents.sources,
    combined,
  };
}
