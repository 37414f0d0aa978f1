import type { Confinement } from "../confinement/evaluate.ts";
import { DataSyntaxError, isRecord } from "../data/parse-json.ts";
import { createJsonSource, locateProblems, parseSource, type SourceText } from "../data/source-text.ts";
import type { FoundPack } from "../discovery/types.ts";
import {
  checkDefinition,
  type Declaration,
  describeWritten,
  isFunction,
  normalizeDefinition,
} from "../extension-schema/index.ts";
import { type FileRead, type InspectionPort, maximumFileBytes } from "../files/inspection-port.ts";
import { type Kind, keyOfKind, kinds } from "../kinds.ts";
import { createProblem, type Problem, type ProblemContext, type ProblemPlace } from "../problems/index.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import {
  type DefinitionFile,
  type DefinitionSource,
  explainMissing,
  isData,
  isTypeScript,
  type LocatedKind,
  locateDefinitions,
  locateItem,
} from "./locate-definitions.ts";
import { placeInItems } from "./place-problems.ts";
import type { InspectedItem, InspectedPack } from "./types.ts";

/** A value with its text, or a problem with the text if it could be decoded. */
type DataRead = { value: unknown; source: SourceText } | { problem: Problem; source: SourceText | undefined };

/** The problem for a file that could not be read. */
function createReadProblem(
  read: Exclude<FileRead, { state: "read" }>,
  file: string,
  place: ProblemPlace,
  context: ProblemContext,
): Problem {
  switch (read.state) {
    case "absent": {
      // It is a link that leads nowhere, or was just deleted.
      const args = { name: place.item ?? file, own: file, combined: file };
      return createProblem("MissingDefinitionFile", args, place, context);
    }
    case "outside":
      return createProblem("DefinitionOutsidePackage", { what: file }, place, context);
    case "tooLarge": {
      const args = { bytes: read.bytes, limit: maximumFileBytes };
      return createProblem("DefinitionTooLarge", args, place, context);
    }
    case "unusable":
      return createProblem("InvalidDefinitionContents", { reason: read.reason }, place, context);
  }
}

/** Matches the export of a definition, the only part of a code definition that can be located without running it. */
const exported =
  /^[ \t]*(?:export\s+default\b|(?:module\.)?exports\s*(?:\.default\s*)?=|export\s*\{[^}]{0,500}\bas\s{1,9}default\b)/m;

/** The text of a code definition. All paths are located at its export. */
function describeCode(bytes: Uint8Array): SourceText {
  const text = new TextDecoder().decode(bytes);
  return {
    text,
    async createLocator() {
      const found = exported.exec(text);
      if (found === null) return undefined;
      const { positionAt } = await import("../data/line-index.ts");
      const position = positionAt(text, found.index + found[0].search(/\S/));
      return () => position;
    },
  };
}

/** Parses a JSON or YAML file. Syntax errors become problems with a position. */
async function readData(
  { format }: DefinitionFile,
  bytes: Uint8Array,
  place: ProblemPlace,
  context: ProblemContext,
): Promise<DataRead> {
  try {
    return await parseSource(format === "json" ? "json" : "yaml", bytes);
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, ...position } = describeSyntaxError(error);
    const { text } = error;
    return {
      problem: createProblem("InvalidDefinitionContents", { reason }, { ...place, ...position }, context),
      source: text === undefined ? undefined : { text, createLocator: async () => undefined },
    };
  }
}

/** The treatment of definitions that are code. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` instead of evaluating code without confinement. */
  requireConfinement?: boolean;
  /** Reject definitions that are code. */
  dataOnly?: boolean;
}

export interface ReadOptions extends ConfinementOptions {
  /** Ends the evaluation of code. */
  signal?: AbortSignal;
  context?: ProblemContext;
}

export interface LoadOptions extends ReadOptions {
  /** Only these declarations of the pack, in its order; default: all. */
  only?: readonly Declaration[];
  /** Also read combined files that no item needs, for the checks of their contents. */
  unneeded?: boolean;
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
  source: DefinitionSource;
  place: ProblemPlace;
}

/** Reads and checks the definitions of one pack, each file once, however many loads need it. */
export class DefinitionReader {
  readonly #port: InspectionPort;
  readonly #found: FoundPack;
  readonly #options: ReadOptions;
  readonly #context: ProblemContext;
  #located: ReadonlyMap<Kind, LocatedKind> | undefined;
  readonly #read = new Set<string>();
  /** The definitions in each file, by name. Files with problems are absent. */
  readonly #contents = new Map<string, Readonly<Record<string, unknown>>>();
  readonly #texts = new Map<string, SourceText>();
  #confinement: Confinement = "data";

  constructor(port: InspectionPort, found: FoundPack, options: ReadOptions) {
    this.#port = port;
    this.#found = found;
    this.#options = options;
    this.#context = options.context ?? "operation";
  }

  /**
   * Reads the definitions of some items. Evaluates those that are code in one confined child process; no code of the pack
   * runs in this process. Reports all problems instead of throwing, those of a file once.
   */
  async load(declarations: readonly Declaration[], unneeded = false): Promise<InspectedPack> {
    const found = this.#found;
    const missing: Problem[] = [];
    if (this.#located === undefined) {
      const { kinds: located, problems } = locateDefinitions(this.#port, found, this.#context);
      this.#located = new Map(located.map((one) => [one.kind, one]));
      missing.push(...problems);
    }
    const files = this.#located;
    const items = declarations.map((declaration): InspectedItem => {
      const located = files.get(declaration.kind);
      const at = located && locateItem(found, located, declaration, this.#context);
      missing.push(...(at?.problems ?? []));
      return {
        declaration,
        qualifiedName: `${found.pack.qualifiedName}/${declaration.name}`,
        file: at?.source?.file ?? null,
        format: at?.source?.format,
        base: at?.source?.combined ? [declaration.name] : [],
        shape: undefined,
        definition: null,
      };
    });
    const unreadable = [
      ...(await this.#readFiles(this.#findWanted(items, unneeded))),
      ...(await this.#readSkills(items)),
    ];

    const invalid: { item: InspectedItem; problem: Problem }[] = [];
    for (const item of items) {
      const { kind, name } = item.declaration;
      const located = files.get(kind);
      const definitions = this.#contents.get(item.file ?? "");
      if (kind === "skill" || located === undefined || definitions === undefined) continue;
      if (!Object.hasOwn(definitions, name)) {
        missing.push(explainMissing(found, located, item.declaration, this.#context));
        continue;
      }
      const { shape, definition, problems } = checkDefinition(kind, definitions[name], this.#context);
      invalid.push(...problems.map((problem) => ({ item, problem })));
      item.shape = shape;
      item.definition = (definition && normalizeDefinition(shape, definition)) ?? null;
    }
    const inManifest = await locateInManifest(found, missing);
    const inItems = await placeInItems({ pack: found.pack, texts: this.#texts }, invalid);
    return {
      ...found,
      items,
      problems: [...inManifest, ...unreadable, ...inItems],
      confinement: this.#confinement,
      files: [...files.values()],
      texts: this.#texts,
      definitions: this.#contents,
    };
  }

  /** Reads the skills among items. */
  async #readSkills(items: readonly InspectedItem[]): Promise<Problem[]> {
    const problems: Problem[] = [];
    for (const item of items) {
      const { kind, name } = item.declaration;
      const skill = kind === "skill" && this.#found.skills.find((one) => one.name === name);
      if (!skill) continue;
      const { readSkill } = await import("../skills/read-skill.ts");
      item.file = `${skill.folder}/${instructionsFile}`;
      const read = await readSkill(this.#port, this.#found.pack, skill, this.#context);
      if ("problem" in read) problems.push(read.problem);
      else Object.assign(item, { skill: read.skill, definition: read.skill.entry.frontmatter });
    }
    return problems;
  }

  /** The files that items need and that were not read. */
  #findWanted(items: readonly InspectedItem[], unneeded: boolean): WantedFile[] {
    const pack = this.#found.pack.name;
    const wanted = items.flatMap(({ declaration: { kind, name }, file, format, base }): WantedFile[] => {
      if (file === null || format === undefined) return [];
      const combined = base.length > 0;
      const place = { pack, kind, item: combined ? undefined : name, file };
      return [{ source: { file, format, combined }, place }];
    });
    for (const { kind, combined } of unneeded ? (this.#located?.values() ?? []) : []) {
      if (combined === undefined || isTypeScript(combined.format)) continue;
      if (this.#options.dataOnly && !isData(combined.format)) continue;
      wanted.push({ source: { ...combined, combined: true }, place: { pack, kind, file: combined.file } });
    }
    return wanted.filter(({ source: { file } }) => {
      const isNew = !this.#read.has(file);
      this.#read.add(file);
      return isNew;
    });
  }

  async #readFiles(wanted: readonly WantedFile[]): Promise<Problem[]> {
    const { location } = this.#found.pack;
    const context = this.#context;
    const problems: Problem[] = [];
    const code: (WantedFile & { realPath: string })[] = [];
    for (const one of wanted) {
      const { source, place } = one;
      const { file, format } = source;
      if (!isData(format) && this.#options.dataOnly) {
        const args = { file, cause: "codeRefused" } as const;
        problems.push(createProblem("UnsupportedDefinitionFormat", args, place, context));
        continue;
      }
      const read = this.#port.readFile(location, file);
      if (read.state !== "read") {
        problems.push(createReadProblem(read, file, place, context));
      } else if (!isData(format)) {
        code.push({ ...one, realPath: read.realPath });
        this.#texts.set(file, describeCode(read.bytes));
      } else {
        const data = await readData(source, read.bytes, place, context);
        if (data.source !== undefined) this.#texts.set(file, data.source);
        problems.push(...("problem" in data ? [data.problem] : this.#keep(one, data.value)));
      }
    }
    if (code.length === 0) return problems;
    const { evaluateConfined } = await import("../confinement/evaluate.ts");
    // Several files may be links to the same file.
    const files = [...new Set(code.map(({ realPath }) => realPath))];
    const evaluation = await evaluateConfined({ packageRoot: location, files }, this.#options);
    this.#confinement = evaluation.confinement;
    for (const one of code) {
      const result = evaluation.results.get(one.realPath) ?? { reason: "it was not evaluated" };
      if ("value" in result) {
        problems.push(...this.#keep(one, result.value));
        continue;
      }
      const { line, column, ...args } = result;
      const place = { ...one.place, ...(line === undefined ? {} : { line, column }) };
      problems.push(createProblem("InvalidDefinitionContents", args, place, context));
    }
    return problems;
  }

  /** Keeps the content of a file; a combined one must have definitions by name. */
  #keep({ source: { file, combined }, place }: WantedFile, value: unknown): Problem[] {
    if (!combined) this.#contents.set(file, { [place.item ?? ""]: value });
    else if (isRecord(value) && !isFunction(value)) this.#contents.set(file, value);
    else {
      const found = `expected an object of definitions by item name, found ${describeWritten(value)}`;
      const reason = value === null ? "it is empty" : found;
      return [createProblem("InvalidDefinitionContents", { reason }, place, this.#context)];
    }
    return [];
  }
}

/** Reads and checks the definitions of every declared item of a pack. Trust level: inspection. */
export function loadDefinitions(
  port: InspectionPort,
  found: FoundPack,
  { only, unneeded, ...options }: LoadOptions = {},
): Promise<InspectedPack> {
  const all = kinds.flatMap((kind) => found.extension[keyOfKind[kind]]);
  return new DefinitionReader(port, found, options).load(only ?? all, unneeded);
}
