import type { Confinement } from "../confinement/evaluate.ts";
import { lazy, memoize } from "../data/memoize.ts";
import { DataSyntaxError, describeType, isRecord } from "../data/parse-json.ts";
import { locateProblems, parseSource, type SourceText, type UnlocatedProblem } from "../data/source-text.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { managerIn } from "../discovery/project-manager.ts";
import type { DiscoveredPack, FoundPack } from "../discovery/types.ts";
import { checkDefinition, isFunction } from "../extension-schema/check-definition.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import { type FileRead, type InspectionPort, maximumFileBytes } from "../files/inspection-port.ts";
import { allItems, type Kind } from "../kinds.ts";
import { createProblem, type Problem, type ProblemPlace, TrailblazeError } from "../problems/index.ts";
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

/**
 * Creates what reads the definitions of some items of a pack, each file once. Evaluates those that are code in one confined child
 * process; no code of the pack runs in this process. Reports all problems instead of throwing, those of a file once.
 */
export function createDefinitionReader(port: InspectionPort, found: FoundPack, options: ReadOptions) {
  const { location, name: pack, qualifiedName } = found.pack;
  let files: readonly LocatedKind[] | undefined;
  let confinement: Confinement = "data";
  const tried = new Set<string>();
  /** The definitions in each file, by name. Files with problems are absent. */
  const definitions = new Map<string, Readonly<Record<string, unknown>>>();
  const texts = new Map<string, SourceText>();
  texts.set("package.json", { text: found.manifest.text, format: "json" });

  function keep({ file, combined, place }: WantedFile, value: unknown, report: Report): void {
    if (!combined) definitions.set(file, { [place.item ?? ""]: value });
    else if (isRecord(value) && !isFunction(value)) definitions.set(file, value);
    else {
      const other = `expected an object of definitions by item name, found ${describeType(value)}`;
      const reason = value === null ? "it is empty" : other;
      report("InvalidDefinitionContents", { reason }, { ...place, file });
    }
  }

  async function readFiles(wanted: readonly WantedFile[], report: Report): Promise<void> {
    const code: (WantedFile & { realPath: string })[] = [];
    for (const one of wanted) {
      const { file, format } = one;
      if (tried.has(file)) continue;
      tried.add(file);
      const place = { ...one.place, file };
      if (!isData(format) && options.dataOnly) {
        report("UnsupportedDefinitionFormat", { file, cause: "codeRefused" }, place);
        continue;
      }
      const read = port.readFile(location, file);
      if (read.state !== "read") {
        reportUnread(read, file, place, report);
      } else if (!isData(format)) {
        code.push({ ...one, realPath: read.realPath });
        texts.set(file, { text: new TextDecoder().decode(read.bytes), format: "code" });
      } else {
        try {
          const { value, source } = await parseSource(format === "json" ? "json" : "yaml", read.bytes);
          texts.set(file, source);
          keep(one, value, report);
        } catch (error) {
          if (!(error instanceof DataSyntaxError)) throw error;
          const { describeSyntaxError } = await import("../data/json-positions.ts");
          const { reason, ...position } = describeSyntaxError(error);
          const { text } = error;
          if (text !== undefined) texts.set(file, { text });
          report("InvalidDefinitionContents", { reason }, { ...place, ...position });
        }
      }
    }
    if (code.length === 0) return;
    const { evaluateConfined } = await import("../confinement/evaluate.ts");
    // Several files may be links to the same file.
    const realPaths = [...new Set(code.map(({ realPath }) => realPath))];
    const evaluation = await evaluateConfined({ packageRoot: location, files: realPaths }, options);
    confinement = evaluation.confinement;
    for (const one of code) {
      const result = evaluation.results.get(one.realPath) ?? { reason: "it was not evaluated" };
      if ("value" in result) {
        keep(one, result.value, report);
        continue;
      }
      const { line, column, ...args } = result;
      report("InvalidDefinitionContents", args, { ...one.place, file: one.file, line, column });
    }
  }

  async function readSkills(items: readonly InspectedItem[], problems: UnlocatedProblem[]): Promise<void> {
    for (const item of items) {
      const { kind, name, skill: place } = item.declaration;
      if (place === undefined) continue;
      const { readSkill } = await import("../skills/read-skill.ts");
      item.file = `${place.folder}/${instructionsFile}`;
      try {
        const skill = await readSkill(port, found.pack, { name, ...place });
        Object.assign(item, { skill, definition: skill.entry.frontmatter });
      } catch (error) {
        if (!(error instanceof TrailblazeError)) throw error;
        const problem = { ...error.problem, pack, kind, item: name };
        problems.push({ problem, source: undefined, at: [] });
      }
    }
  }

  return async (declarations: readonly Declaration[]): Promise<InspectedPack> => {
    const problems: UnlocatedProblem[] = [];
    const report: Report = (code, args, place) => {
      const { path = [] } = place;
      // Problems of the field and of missing files are located at the declaration.
      const source = path.length > 0 ? texts.get("package.json") : undefined;
      const problem = createProblem(code, args, { pack, ...place });
      problems.push({ problem, source, at: ["trailblaze", ...path] });
    };
    files ??= locateDefinitions(port, found, report);
    const located = new Map(files.map((one) => [one.kind as Kind, one]));
    const wanted: WantedFile[] = [];
    const items = declarations.map((declaration): InspectedItem => {
      const { kind, name } = declaration;
      const ofKind = located.get(kind);
      const source = ofKind && locateItem(found, ofKind, declaration, report);
      if (source) wanted.push({ ...source, place: { kind, item: source.combined ? undefined : name } });
      return {
        declaration,
        qualifiedName: `${qualifiedName}/${name}`,
        pack: found.pack,
        file: source?.file ?? null,
        format: source?.format,
        confinement: "data",
        base: source?.combined ? [name] : [],
        definition: null,
      };
    });
    for (const { kind, combined } of options.unneeded ? files : []) {
      const { file = "", format } = combined ?? {};
      if (format === undefined || isTypeScript(format)) continue;
      if (!options.dataOnly || isData(format)) wanted.push({ file, format, combined: true, place: { kind } });
    }
    await readFiles(wanted, report);
    await readSkills(items, problems);

    for (const item of items) {
      const { kind, name } = item.declaration;
      const ofKind = located.get(kind);
      const inFile = definitions.get(item.file ?? "");
      item.source = texts.get(item.file ?? "");
      if (item.format !== undefined && !isData(item.format)) item.confinement = confinement;
      if (kind === "skill" || ofKind === undefined || inFile === undefined) continue;
      if (!Object.hasOwn(inFile, name)) {
        reportMissing(ofKind, item.declaration, report);
        continue;
      }
      const { shape, definition, problems: invalid } = checkDefinition(kind, inFile[name]);
      problems.push(...invalid.map((problem) => placeInItem(item, problem)));
      Object.assign(item, { shape, definition });
    }
    return { ...found, items, problems: await locateProblems(problems), files, texts, definitions };
  };
}

/** Reads the definitions of all items of a pack. Trust level: inspection. */
export const loadDefinitions = (
  port: InspectionPort,
  found: FoundPack,
  options: ReadOptions = {},
): Promise<InspectedPack> => createDefinitionReader(port, found, options)(allItems(found.extension));

export type DefinitionLibrary = ReturnType<typeof createLibrary>;

/** Loads definitions of single items on demand, each once. `check` may replace the items of a pack before they are used. */
export function createLibrary(
  port: InspectionPort,
  found: FoundPacks,
  options: ReadOptions,
  check = async (loaded: InspectedPack) => loaded,
) {
  const problems: Problem[] = [];
  const items = new Map<string, InspectedItem>();
  /** A pack's declarations are known by kind and qualified name, because a server may need thousands one by one. */
  const open = memoize((pack: FoundPack) => ({
    read: createDefinitionReader(port, pack, options),
    declared: new Map(
      allItems(pack.extension).map((one) => [`${one.kind} ${pack.pack.qualifiedName}/${one.name}`, one]),
    ),
  }));
  /** Adds definitions that were loaded elsewhere; their problems are not reported again. */
  const add = (loaded: InspectedPack) => {
    for (const item of loaded.items) items.set(`${item.declaration.kind} ${item.qualifiedName}`, item);
  };
  return {
    found,
    problems,
    add,
    manager: lazy(() => managerIn(port, found.workspace)),
    lookUp: (references: readonly { reference: string }[], from: DiscoveredPack | "user") =>
      lookUpReferences(port, found, references, from),
    /** Loads the definitions of some items of one kind, in the order of their qualified names. */
    async load(kind: Kind, qualifiedNames: readonly string[]): Promise<InspectedItem[]> {
      const keys = [...new Set(qualifiedNames)].map((name) => `${kind} ${name}`);
      const missing = keys.filter((key) => !items.has(key));
      for (const pack of missing.length === 0 ? [] : found.packs) {
        if (pack.pack.shadowed) continue;
        const { read, declared } = open(pack);
        const only = missing.flatMap((key) => declared.get(key) ?? []);
        if (only.length === 0) continue;
        const loaded = await check(await read(only));
        problems.push(...loaded.problems);
        add(loaded);
      }
      return qualifiedNames.flatMap((name) => items.get(`${kind} ${name}`) ?? []);
    },
  };
}
