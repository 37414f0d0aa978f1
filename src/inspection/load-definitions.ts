import type { Confinement } from "../confinement/evaluate.ts";
import { isRecord } from "../data/parse-json.ts";
import { createJsonSource, locateProblems, type SourceText } from "../data/source-text.ts";
import type { FoundPack } from "../discovery/types.ts";
import { checkDefinition, type Declaration, describeWritten, isFunction } from "../extension-schema/index.ts";
import { normalizeDefinition } from "../extension-schema/normalize-definition.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createProblem, type Problem, type ProblemContext, type ProblemPlace } from "../problems/index.ts";
import { isData, isTypeScript } from "./formats.ts";
import { type DefinitionFile, type LocatedDefinitions, locateDefinitions } from "./locate-definitions.ts";
import { placeInItems } from "./place-problems.ts";
import { createReadProblem, describeCode, readData } from "./read-data.ts";
import { ReadOnce } from "./read-once.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

/** The treatment of definitions that are code. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` instead of evaluating code without confinement. */
  requireConfinement?: boolean;
  /** Reject definitions that are code. */
  dataOnly?: boolean;
}

export interface LoadOptions extends ConfinementOptions {
  /** Ends the evaluation of code. */
  signal?: AbortSignal;
  context?: ProblemContext;
  /** Only these declarations of the pack, in its order; default: all. */
  only?: readonly Declaration[];
  /** Also read combined files that no item needs, for the checks of their contents. */
  unneeded?: boolean;
  /** A cache that several loads share. */
  once?: ReadOnce;
}

/** The contents of a pack's definition files. */
interface FileContents {
  /** By file. Files with problems are absent. */
  values: Map<string, unknown>;
  texts: Map<string, SourceText>;
  problems: Problem[];
  confinement: Confinement;
}

/** Locates problems of the field and of missing definition files at their declaration. */
function locateInManifest({ manifest }: FoundPack, problems: readonly Problem[]): Promise<Problem[]> {
  const source = createJsonSource(manifest.text);
  const isInManifest = ({ file, code }: Problem) =>
    file === "package.json" || code === "MissingDefinitionFile";
  return locateProblems(
    problems.map((problem) => ({
      problem,
      source: isInManifest(problem) ? source : undefined,
      at: ["trailblaze", ...(problem.path ?? [])],
    })),
  );
}

/** A file to read, with the place for its problems, which includes the item unless the file is combined. */
interface WantedFile {
  source: DefinitionFile;
  place: ProblemPlace;
}

function findWantedFiles(
  { pack }: FoundPack,
  { items, kinds }: LocatedDefinitions,
  { unneeded = false, dataOnly = false }: LoadOptions,
): WantedFile[] {
  const wanted = items.flatMap(({ declaration: { kind, name }, source }): WantedFile[] => {
    if (source === undefined) return [];
    const place = { pack: pack.name, kind, file: source.file };
    return [{ source, place: source.combined ? place : { ...place, item: name } }];
  });
  if (!unneeded) return wanted;
  for (const { kind, combined } of kinds) {
    if (combined === undefined || isTypeScript(combined.format)) continue;
    if (dataOnly && !isData(combined.format)) continue;
    wanted.push({ source: combined, place: { pack: pack.name, kind, file: combined.file } });
  }
  return wanted;
}

async function readFiles(
  port: InspectionPort,
  { pack }: FoundPack,
  wanted: readonly WantedFile[],
  { dataOnly = false, context = "operation", once = new ReadOnce(), ...options }: LoadOptions,
): Promise<FileContents> {
  const contents: FileContents = {
    values: new Map(),
    texts: new Map(),
    problems: [],
    confinement: "data",
  };
  const code: (WantedFile & { realPath: string })[] = [];
  const seen = new Set<string>();
  for (const { source, place } of wanted) {
    if (seen.has(source.file)) continue;
    seen.add(source.file);
    if (!isData(source.format) && dataOnly) {
      const args = { file: source.file, cause: "codeRefused" } as const;
      contents.problems.push(createProblem("UnsupportedDefinitionFormat", args, place, context));
      continue;
    }
    const key = [pack.location, source.file];
    const read = once.get(["file", ...key], () => port.readFile(pack.location, source.file));
    const problem = createReadProblem(read, source.file, place, context);
    if (problem !== undefined || read.state !== "read") {
      if (problem !== undefined) contents.problems.push(problem);
    } else if (!isData(source.format)) {
      code.push({ source, place, realPath: read.realPath });
      contents.texts.set(source.file, describeCode(read.bytes));
    } else {
      const data = await once.get(["data", ...key], () => readData(source, read.bytes, place, context));
      if (data.source !== undefined) contents.texts.set(source.file, data.source);
      if ("problem" in data) contents.problems.push(data.problem);
      else contents.values.set(source.file, data.value);
    }
  }
  if (code.length > 0) {
    const { evaluateConfined } = await import("../confinement/evaluate.ts");
    // Several files may be links to the same file.
    const files = [...new Set(code.map(({ realPath }) => realPath))];
    const evaluation = await evaluateConfined({ packageRoot: pack.location, files }, options);
    contents.confinement = evaluation.confinement;
    for (const { source, place, realPath } of code) {
      const result = evaluation.results.get(realPath) ?? { reason: "it was not evaluated" };
      if ("value" in result) {
        contents.values.set(source.file, result.value);
        continue;
      }
      const { reason, missingPackage, cause, ...position } = result;
      const args = { reason, missingPackage, cause };
      const fullPlace = { ...place, ...position };
      contents.problems.push(createProblem("InvalidDefinitionContents", args, fullPlace, context));
    }
  }
  return contents;
}

/**
 * Reads and checks the definitions of every declared item. Evaluates definitions that are code in one confined child
 * process; no code of the pack runs in this process. Trust level: inspection. Reports all problems instead of throwing.
 */
export async function loadDefinitions(
  port: InspectionPort,
  found: FoundPack,
  options: LoadOptions = {},
): Promise<InspectedPack> {
  const { context = "operation" } = options;
  const located = locateDefinitions(port, found, options);
  const wanted = findWantedFiles(found, located, options);
  const contents = await readFiles(port, found, wanted, options);
  const problems = [...(await locateInManifest(found, located.problems)), ...contents.problems];
  const combined = new Map<string, Readonly<Record<string, unknown>>>();
  const shapeProblems: { item: InspectedItem; problem: Problem }[] = [];

  for (const { kind, combined: source } of located.kinds) {
    if (source === undefined || !contents.values.has(source.file)) continue;
    const content = contents.values.get(source.file);
    if (isRecord(content) && !isFunction(content)) combined.set(source.file, content);
    else {
      const expected = "an object of definitions by item name";
      const reason =
        content === null ? "it is empty" : `expected ${expected}, found ${describeWritten(content)}`;
      const place = { pack: found.pack.name, kind, file: source.file };
      problems.push(createProblem("InvalidDefinitionContents", { reason }, place, context));
    }
  }

  const byKind = new Map(located.kinds.map((one) => [one.kind, one]));
  const notDefined: Problem[] = [];
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
      const map = combined.get(source.file);
      if (map === undefined) return item;
      if (!Object.hasOwn(map, declaration.name)) {
        const { kind, name, path } = declaration;
        const files = byKind.get(kind);
        const place = { pack: found.pack.name, kind, item: name };
        const odd = files?.unknown.get(name);
        if (odd !== undefined) {
          const args = { file: odd, cause: "unknownFormat" } as const;
          const oddPlace = { ...place, file: odd };
          notDefined.push(createProblem("UnsupportedDefinitionFormat", args, oddPlace, context));
        } else if (files !== undefined) {
          const args = files.missing()(name, map);
          const fullPlace = { ...place, file: source.file, path };
          notDefined.push(createProblem("MissingDefinitionFile", args, fullPlace, context));
        }
        return item;
      }
      content = map[declaration.name];
    }
    const checked = checkDefinition(declaration.kind, content, context);
    shapeProblems.push(...checked.problems.map((problem) => ({ item, problem })));
    item.shape = checked.shape;
    item.definition = checked.definition ? normalizeDefinition(checked.shape, checked.definition) : null;
    return item;
  });

  problems.push(...(await locateInManifest(found, notDefined)));
  problems.push(...(await placeInItems({ pack: found.pack, texts: contents.texts }, shapeProblems)));
  return {
    ...found,
    items,
    problems,
    confinement: contents.confinement,
    files: located.kinds,
    texts: contents.texts,
    combined,
  };
}
