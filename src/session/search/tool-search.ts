import { describeType, isRecord } from "../../data/parse-json.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import { defaultAbove, searchToolName } from "../../qualified-names/search-tool.ts";
import { failedResult, type ToolResult } from "../../runtime/tool-result.ts";
import { formatSource } from "../names.ts";
import type { SessionState } from "../session-state.ts";
import type { SessionTool } from "../session-tool.ts";
import { type FoundTool, ToolIndex } from "./tool-index.ts";

/** Which tools a model gets if there are many. */
export interface LlmToolsOptions {
  /**
   * With more tools than this, a model gets `always`, the tool `search_tools`, and what it has found. Default: 30. With
   * `Infinity`, it always gets all of them, and the name `search_tools` is not reserved.
   */
  above?: number | undefined;
  /** The tools that a model gets in any case, by names that calls take. An unknown one is the problem `UnmatchedPattern`. */
  always?: readonly string[] | undefined;
}

/** How a session is searched. */
export interface SearchOptions {
  /** The most tools to find. Default: 5. */
  limit?: number | undefined;
  /** Only the tools of these toolsets, by their short names. */
  toolsets?: readonly string[] | undefined;
}

const defaultLimit = 5;
/** What one search of a model finds; more would fill its context. */
const mostForModels = 50;

const invalid = (reason: string) => failure("InvalidArguments", { reason });

/** Throws `InvalidArguments`. */
function checkNames(key: "always" | "toolsets", names: unknown): void {
  if (names === undefined || (Array.isArray(names) && names.every((name) => typeof name === "string")))
    return;
  throw invalid(`\`${key}\` must be an array of names, but it is ${describeType(names)}`);
}

/** Throws `InvalidArguments`. */
export function checkOptions({ above, always }: LlmToolsOptions): void {
  if (above !== undefined && !(typeof above === "number" && above >= 0)) {
    const given = typeof above === "number" ? String(above) : describeType(above);
    throw invalid(`\`above\` must be a number of at least 0, but it is ${given}`);
  }
  checkNames("always", always);
}

function readLimit(limit: unknown = defaultLimit): number {
  if (typeof limit === "number" && Number.isInteger(limit) && limit > 0) return limit;
  const given = typeof limit === "number" ? String(limit) : describeType(limit);
  throw invalid(`\`limit\` must be a positive integer, but it is ${given}`);
}

function readQuery(query: unknown): string {
  if (typeof query === "string") return query;
  throw invalid(`What to search for must be a string, but it is ${describeType(query)}`);
}

const describeTool = ({ description, title, inputSchema }: SessionTool, name: string) => {
  const words = description ?? title;
  return { name, ...(words === undefined ? {} : { description: words }), inputSchema };
};

const foundSchema = {
  type: "object",
  properties: {
    tools: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          description: { type: "string" },
          inputSchema: { type: "object" },
        },
        required: ["name", "inputSchema"],
      },
    },
  },
  required: ["tools"],
};

/** The tool that searches for others; a copy, because its users may change it. */
export function createSearchTool() {
  return {
    name: searchToolName,
    qualifiedName: searchToolName,
    source: { type: "builtIn" },
    title: "Search tools",
    description:
      "Find tools by what they do. There are more tools than those listed: search before you conclude that there is none. " +
      "Answers with the names, descriptions and input schemas of the tools that fit best, which can then be called.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words that say what the tool does, or its name." },
        limit: {
          type: "integer",
          minimum: 1,
          default: defaultLimit,
          description: `The most tools to find; at most ${mostForModels}.`,
        },
      },
      required: ["query"],
    },
    outputSchema: structuredClone(foundSchema),
    annotations: { readOnlyHint: true, openWorldHint: false },
    isForLlm: true,
    isRecordable: false,
    toolsets: [],
  } satisfies SessionTool;
}

/** The indexes of states, each built when it is first searched. */
const indexes = new WeakMap<SessionState, { index: ToolIndex; count: number }>();

function indexOf(state: SessionState): ToolIndex {
  const known = indexes.get(state);
  // Servers that start later add tools to a state.
  const count = state.tools.length;
  if (known?.count === count) return known.index;
  const index = new ToolIndex(state.toolsForLlm());
  indexes.set(state, { index, count });
  return index;
}

/**
 * The tools of a state that fit a text best. Throws `TrailblazeError`: `InvalidArguments`, `ToolsetNotFound` with similar
 * names.
 */
export function searchTools(
  state: SessionState,
  query: string,
  { limit, toolsets }: SearchOptions = {},
): FoundTool[] {
  const most = readLimit(limit);
  checkNames("toolsets", toolsets);
  const known = state.toolsets.map(({ name }) => name);
  for (const name of toolsets ?? []) {
    if (known.includes(name)) continue;
    throw failure("ToolsetNotFound", { name, otherKind: undefined, nearest: findNearestNames(name, known) });
  }
  return indexOf(state).search(
    readQuery(query),
    most,
    (tool) => toolsets === undefined || tool.toolsets.some((name) => toolsets.includes(name)),
  );
}

function findRivals(state: SessionState): TrailblazeError | undefined {
  const rivals = state.tools.filter(({ name }) => name === searchToolName);
  if (rivals.length === 0) return undefined;
  const sources = [...rivals.map(({ source }) => formatSource(source)), "the search for tools"];
  return failure("NameCollision", { collisions: [{ name: searchToolName, sources }], isReserved: true });
}

/** Throws `TrailblazeError` `NameCollision` if a tool of the state has the name of the search. */
export function refuseSearchName(state: SessionState): void {
  const collision = findRivals(state);
  if (collision !== undefined) throw collision;
}

function findByOtherName(state: SessionState, name: string): SessionTool | undefined {
  try {
    return state.resolve(name, undefined).tool;
  } catch (error) {
    if (error instanceof TrailblazeError) return undefined;
    throw error;
  }
}

/** What one host, or one client, has found of the tools of a session, which it is then shown. */
export class ToolSearch {
  readonly #state: () => SessionState;
  readonly #report: (problem: Problem) => void;
  readonly #listedName: (name: string) => string;
  readonly #found = new Set<string>();
  readonly #unknown = new Set<string>();
  #isUsed = false;

  /** `listedName`: the name with which a tool is listed, by its name in the session. */
  constructor(
    state: () => SessionState,
    report: (problem: Problem) => void,
    listedName: (name: string) => string = (name) => name,
  ) {
    this.#state = state;
    this.#report = report;
    this.#listedName = listedName;
  }

  /** Whether models have been given the search. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** The tools for a model. Throws `TrailblazeError`: `InvalidArguments`, `NameCollision` if a tool has the search's name. */
  select(options: LlmToolsOptions): SessionTool[] {
    checkOptions(options);
    const state = this.#state();
    const { above, always } = options;
    if (above === Number.POSITIVE_INFINITY) {
      const tools = state.toolsForLlm();
      this.#findNamed(state, tools, always);
      return tools;
    }
    refuseSearchName(state);
    return this.list(options);
  }

  /** The tools for a model. A tool with the name of the search is left out and reported. `grows`: with those found so far. */
  list({ above = defaultAbove, always }: LlmToolsOptions, { grows = true } = {}): SessionTool[] {
    const state = this.#state();
    this.#isUsed = true;
    const collision = findRivals(state);
    if (collision !== undefined) this.#report(collision.problem);
    const tools = state.toolsForLlm().filter(({ name }) => name !== searchToolName);
    const named = this.#findNamed(state, tools, always);
    if (tools.length <= above) return tools;
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    const found = grows ? [...this.#found].flatMap((name) => byName.get(name) ?? []) : [];
    return [...new Set([...named, createSearchTool(), ...found])];
  }

  /** The tools with these names. An unknown name is reported once. */
  #findNamed(
    state: SessionState,
    tools: readonly SessionTool[],
    names: readonly string[] = [],
  ): SessionTool[] {
    if (names.length === 0) return [];
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    return names.flatMap((name) => {
      const tool = byName.get(name) ?? findByOtherName(state, name);
      if (tool !== undefined && byName.get(tool.name) === tool) return [tool];
      if (this.#unknown.has(name)) return [];
      this.#unknown.add(name);
      const nearest = findNearestNames(name, [...byName.keys()]);
      this.#report(createProblem("UnmatchedPattern", { key: "always", pattern: name, nearest }));
      return [];
    });
  }

  /**
   * Answers a call of the search; what it finds is shown from then on. Arguments that do not fit are a failure. `among`: only
   * these tools.
   */
  call(written: unknown = {}, among?: readonly string[]): { result: ToolResult; isNew: boolean } {
    if (!isRecord(written)) {
      const message = `The arguments must be an object, but they are ${describeType(written)}.`;
      return { result: failedResult(message), isNew: false };
    }
    const { query, limit } = written;
    const before = this.#found.size;
    try {
      const most = Math.min(readLimit(limit ?? undefined), mostForModels);
      const accepted = among && new Set(among);
      const found = indexOf(this.#state())
        .search(
          readQuery(query),
          most,
          ({ name }) => name !== searchToolName && accepted?.has(name) !== false,
        )
        .map(({ tool }) => tool);
      for (const { name } of found) this.#found.add(name);
      const described = found.map((tool) => describeTool(tool, this.#listedName(tool.name)));
      return { result: createSearchResult(described), isNew: this.#found.size > before };
    } catch (error) {
      if (error instanceof TrailblazeError) return { result: failedResult(error.message), isNew: false };
      throw error;
    }
  }
}

/** The answer of a search: as JSON, which keeps the texts of authors apart. */
function createSearchResult(found: readonly ReturnType<typeof describeTool>[]): ToolResult {
  const structuredContent = structuredClone({ tools: found });
  const message =
    found.length === 0 ? "No tool fits. Try other words, or fewer." : JSON.stringify(structuredContent);
  return { variant: "Success", message, content: [{ type: "text", text: message }], structuredContent };
}
