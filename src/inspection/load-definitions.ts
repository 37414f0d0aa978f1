import type { Confinement } from "../confinement/evaluate.ts";
import { DataSyntaxError, describeType, isRecord } from "../data/parse-json.ts";
import { locateProblems, parseSource, type SourceText, type UnlocatedProblem } from "../data/source-text.ts";
import type { FoundPack } from "../discovery/types.ts";
import { checkDefinition, isFunction } from "../extension-schema/check-definition.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import { type FileRead, type InspectionPort, maximumFileBytes } from "../files/inspection-port.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { createProblem, type ProblemPlace, TrailblazeError } from "../problems/index.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import {
  type Format,
  isData,
  isTypeScript,
  type LocatedKind,
  locateDefinitions,
  locateItem,
  type Report,
  reportMissing,
} from "./locate-definitions.ts";
import { type InspectedItem, type InspectedPack, placeInItem } from "./types.ts";

function reportUnread(
  read: Exclude<FileRead, { state: "read" }>,
  file: string,
  place: ProblemPlace,
  report: Report,
): void {
  const { state } = read;
  // It is a link that leads nowhere, or was just deleted.
  if (state === "absent")
    report("MissingDefinitionFile", { name: place.item ?? file, own: file, combined: file }, place);
  else if (state === "outside") report("DefinitionOutsidePackage", { what: file }, place);
  else if (state === "unusable") report("InvalidDefinitionContents", { reason: read.reason }, place);
  else report("DefinitionTooLarge", { bytes: read.bytes, limit: maximumFileBytes }, place);
}

/** The treatment of definitions that are code. */
export interface ConfinementOptions {
  /** Throw `ConfinementUnavailable` instead of evaluating code without confinement. */
  requireConfinement?: boolean;
  /** Reject definitions that are code. */
  dataOnly?: boolean;
}

export interface ReadOptions extends ConfinementOptions {
  signal?: AbortSignal;
}

export interface LoadOptions extends ReadOptions {
  /** Only these declarations of the pack, in its order; default: all. */
  only?: readonly Declaration[];
  /** Also read combined files that no item needs, for the checks of their contents. */
  unneeded?: boolean;
}

/** A file to read, with the place for its problems, which includes the item unless the file is combined. */
interface WantedFile {
  file: string;
  format: Format;
  combined: boolean;
  place: ProblemPlace;
}

/** Reads and checks the definitions of one pack, each file once, however many loads need it. */
export class DefinitionReader {
  readonly #port: InspectionPort;
  readonly #found: FoundPack;
  readonly #options: ReadOptions;
  #located: readonly LocatedKind[] | undefined;
  readonly #read = new Set<string>();
  /** The definitions in each file, by name. Files with problems are absent. */
  readonly #contents = new Map<string, Readonly<Record<string, unknown>>>();
  readonly #texts = new Map<string, SourceText>();
  #confinement: Confinement = "data";

  constructor(port: InspectionPort, found: FoundPack, options: ReadOptions) {
    this.#port = port;
    this.#found = found;
    this.#options = options;
    this.#texts.set("package.json", { text: found.manifest.text, format: "json" });
  }

  /**
   * Reads the definitions of some items. Evaluates those that are code in one confined child process; no code of the pack
   * runs in this process. Reports all problems instead of throwing, those of a file once.
   */
  async load(declarations: readonly Declaration[], unneeded = false): Promise<InspectedPack> {
    const found = this.#found;
    const { name: pack, qualifiedName } = found.pack;
    const problems: UnlocatedProblem[] = [];
    const report: Report = (code, args, place) => {
      const { path = [] } = place;
      // Problems of the field and of missing files are located at the declaration.
      const source = path.length > 0 ? this.#texts.get("package.json") : undefined;
      const problem = createProblem(code, args, { pack, ...place });
      problems.push({ problem, source, at: ["trailblaze", ...path] });
    };
    this.#located ??= locateDefinitions(this.#port, found, report);
    const files = this.#located;
    const wanted: WantedFile[] = [];
    const items = declarations.map((declaration): InspectedItem => {
      const { kind, name } = declaration;
      const located = files.find((one) => one.kind === kind);
      const source = located && locateItem(found, located, declaration, report);
      if (source) wanted.push({ ...source, place: { kind, item: source.combined ? undefined : name } });
      return {
        declaration,
        qualifiedName: `${qualifiedName}/${name}`,
        pack: found.pack,
        file: source?.file ?? null,
        format: source?.format,
        source: undefined,
        confinement: "data",
        base: source?.combined ? [name] : [],
        shape: undefined,
        definition: null,
      };
    });
    for (const { kind, combined } of unneeded ? files : []) {
      const { file = "", format } = combined ?? {};
      if (format === undefined || isTypeScript(format)) continue;
      if (!this.#options.dataOnly || isData(format))
        wanted.push({ file, format, combined: true, place: { kind } });
    }
    await this.#readFiles(wanted, report);
    await this.#readSkills(items, problems);

    for (const item of items) {
      const { kind, name } = item.declaration;
      const located = files.find((one) => one.kind === kind);
      const definitions = this.#contents.get(item.file ?? "");
      item.source = this.#texts.get(item.file ?? "");
      if (item.format !== undefined && !isData(item.format)) item.confinement = this.#confinement;
      if (kind === "skill" || located === undefined || definitions === undefined) continue;
      if (!Object.hasOwn(definitions, name)) {
        reportMissing(located, item.declaration, report);
        continue;
      }
      const { shape, definition, problems: invalid } = checkDefinition(kind, definitions[name]);
      problems.push(...invalid.map((problem) => placeInItem(item, problem)));
      Object.assign(item, { shape, definition });
    }
    return {
      ...found,
      items,
      problems: await locateProblems(problems),
      files,
      texts: this.#texts,
      definitions: this.#contents,
    };
  }

  async #readSkills(items: readonly InspectedItem[], problems: UnlocatedProblem[]): Promise<void> {
    const { pack } = this.#found;
    for (const item of items) {
      const { kind, name, skill: place } = item.declaration;
      if (place === undefined) continue;
      const { readSkill } = await import("../skills/read-skill.ts");
      item.file = `${place.folder}/${instructionsFile}`;
      try {
        const skill = await readSkill(this.#port, pack, { name, ...place });
        Object.assign(item, { skill, definition: skill.entry.frontmatter });
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        const problem = { ...error.problem, pack: pack.name, kind, item: name };
        problems.push({ problem, source: undefined, at: [] });
      }
    }
  }

  async #readFiles(wanted: readonly WantedFile[], report: Report): Promise<void> {
    const { location } = this.#found.pack;
    const code: (WantedFile & { realPath: string })[] = [];
    for (const one of wanted) {
      const { file, format } = one;
      if (this.#read.has(file)) continue;
      this.#read.add(file);
      const place = { ...one.place, file };
      if (!isData(format) && this.#options.dataOnly) {
        report("UnsupportedDefinitionFormat", { file, cause: "codeRefused" }, place);
        continue;
      }
      const read = this.#port.readFile(location, file);
      if (read.state !== "read") {
        reportUnread(read, file, place, report);
      } else if (!isData(format)) {
        code.push({ ...one, realPath: read.realPath });
        this.#texts.set(file, { text: new TextDecoder().decode(read.bytes), format: "code" });
      } else {
        try {
          const { value, source } = await parseSource(format === "json" ? "json" : "yaml", read.bytes);
          this.#texts.set(file, source);
          this.#keep(one, value, report);
        } catch (error) {
          if (!(error instanceof DataSyntaxError)) throw error;
          const { describeSyntaxError } = await import("../data/json-positions.ts");
          const { reason, ...position } = describeSyntaxError(error);
          const { text } = error;
          if (text !== undefined) this.#texts.set(file, { text });
          report("InvalidDefinitionContents", { reason }, { ...place, ...position });
        }
      }
    }
    if (code.length === 0) return;
    const { evaluateConfined } = await import("../confinement/evaluate.ts");
    // Several files may be links to the same file.
    const files = [...new Set(code.map(({ realPath }) => realPath))];
    const evaluation = await evaluateConfined({ packageRoot: location, files }, this.#options);
    this.#confinement = evaluation.confinement;
    for (const one of code) {
      const result = evaluation.results.get(one.realPath) ?? { reason: "it was not evaluated" };
      if ("value" in result) {
        this.#keep(one, result.value, report);
        continue;
      }
      const { line, column, ...args } = result;
      report("InvalidDefinitionContents", args, { ...one.place, file: one.file, line, column });
    }
  }

  #keep({ file, combined, place }: WantedFile, value: unknown, report: Report): void {
    if (!combined) this.#contents.set(file, { [place.item ?? ""]: value });
    else if (isRecord(value) && !isFunction(value)) this.#contents.set(file, value);
    else {
      const found = `expected an object of definitions by item name, found ${describeType(value)}`;
      const reason = value === null ? "it is empty" : found;
      report("InvalidDefinitionContents", { reason }, { ...place, file });
    }
  }
}

/** Trust level: inspection. */
export function loadDefinitions(
  port: InspectionPort,
  found: FoundPack,
  { only, unneeded, ...options }: LoadOptions = {},
): Promise<InspectedPack> {
  const all = kinds.flatMap((kind) => found.extension[keyOfKind[kind]]);
  return new DefinitionReader(port, found, options).load(only ?? all, unneeded);
}
