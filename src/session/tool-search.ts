// Finds tools by words, and shows models of many tools those that they have found.
import MiniSearch from "minisearch";
import { describeType, isRecord } from "../data/parse-json.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { defaultAbove, searchToolName } from "../qualified-names/search-tool.ts";
import { failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { SessionTool } from "./items.ts";
import { attempt, formatSource } from "./names.ts";
import type { SessionState } from "./session-state.ts";

/** A name such as `get_issue`, `getIssue` or `get-issue`, or a word. */
const compounds = /[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]*/gu;
/** `HTTP` and `Server` of `HTTPServer`; digits stand alone. */
const parts = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+|\p{L}/gu;
/** Longer words are cut: they are data and not language. */
const longestWord = 40;
/** Finds the words of scripts without spaces. */
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** The words of a text in lower case, in order: the parts of names and the names as a whole. */
function wordsOf(text: string): string[] {
  const isAscii = /^[\u0000-\u007f]*$/.test(text);
  const spaced = isAscii ? text : Array.from(segmenter.segment(text), ({ segment }) => segment).join(" ");
  return Array.from(spaced.matchAll(compounds)).flatMap(([compound]) => {
    const words = Array.from(compound.matchAll(parts), ([part]) => part.toLowerCase());
    return (words.length > 1 ? [words.join(""), ...words] : words).map((word) => word.slice(0, longestWord));
  });
}

/** How much a word counts, by where it is. */
const boost = { name: 5, title: 3, toolset: 1.5, description: 1, parameters: 0.8 };
/** Of each text, in UTF-16 code units; authors choose how long theirs are. */
const longestText = 4000;
const longestQuery = 1000;
const mostWords = 16;
const mostParameters = 200;

/** A tool that a search found. */
export interface FoundTool {
  tool: SessionTool;
  /** Higher fits better. Comparable within one search only. */
  score: number;
}

function textsOf({ name, title, description, inputSchema, toolsets, _meta }: SessionTool, id: number) {
  const { properties } = inputSchema;
  const parameters = isRecord(properties) ? Object.keys(properties).slice(0, mostParameters) : [];
  const names = `${name} ${_meta?.["trailblaze/originalName"] ?? ""}`;
  const [parameterNames, toolset] = [parameters.join(" "), toolsets.join(" ")];
  return { id, name: names, title, description, parameters: parameterNames, toolset };
}

/** Whether a name is one of the tool's, but for the case: the advertised name, the qualified one, or that of its server. */
const hasName = ({ name, qualifiedName, _meta }: SessionTool, wanted: string): boolean =>
  [name, qualifiedName, _meta?.["trailblaze/originalName"]].some((one) => one?.toLowerCase() === wanted);

const indexOf = (tools: readonly SessionTool[]) => {
  const index = new MiniSearch({
    fields: Object.keys(boost),
    tokenize: (text) => wordsOf(text.slice(0, longestText)),
    processTerm: (word) => word,
    searchOptions: {
      boost,
      tokenize: (text) => [...new Set(wordsOf(text))].slice(0, mostWords),
      // One letter begins too much; one character of a script without spaces is half a word.
      prefix: (word) => word.length > 1 || word > "\u0e00",
      fuzzy: (word) => (word.length < 4 ? false : word.length < 8 ? 1 : 2),
    },
  });
  index.addAll(tools.map(textsOf));
  return index;
};

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

/** Throws `InvalidArguments` unless a value is valid. */
function check(isValid: boolean, expected: string, value: unknown): void {
  if (isValid) return;
  const what = typeof value === "number" ? String(value) : describeType(value);
  throw failure("InvalidArguments", { reason: `${expected}, but it is ${what}` });
}

/** Throws `InvalidArguments`. */
export function checkOptions({ above = 0, always = [] }: LlmToolsOptions): void {
  check(typeof above === "number" && above >= 0, "`above` must be a number of at least 0", above);
  check(Array.isArray(always), "`always` must be an array of names", always);
}

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
    annotations: { readOnlyHint: true, openWorldHint: false },
    isForLlm: true,
    isRecordable: false,
    toolsets: [],
  } satisfies SessionTool;
}

/** The indexes of states, each built when it is first searched. */
const indexes = new WeakMap<SessionState, MiniSearch>();

/**
 * The tools with words of the query, with words that begin with one, or that differ from one by a character or two: best
 * first, and those that fit alike in their order. A tool that has the whole query as its name is the first.
 */
function search(
  state: SessionState,
  query: unknown,
  limit: unknown = defaultLimit,
  accepts: (tool: SessionTool) => boolean,
): FoundTool[] {
  const isLimit = typeof limit === "number" && Number.isInteger(limit) && limit > 0;
  check(isLimit, "`limit` must be a positive integer", limit);
  check(typeof query === "string", "What to search for must be a string", query);
  const tools = state.toolsForLlm();
  const index = indexes.get(state) ?? indexOf(tools);
  indexes.set(state, index);
  const cut = (query as string).slice(0, longestQuery);
  const scores = new Map<number, number>(index.search(cut).map(({ id, score }) => [id, score]));
  const best = Math.max(0, ...scores.values());
  const wanted = cut.trim();
  for (const [id, tool] of tools.entries()) {
    // The advertised name is unique.
    if (hasName(tool, wanted.toLowerCase())) scores.set(id, best + (tool.name === wanted ? 2 : 1));
  }
  return [...scores]
    .sort(([one, high], [other, low]) => low - high || one - other)
    .map(([id, score]) => ({ tool: tools[id] as SessionTool, score }))
    .filter(({ tool }) => accepts(tool))
    .slice(0, limit as number);
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
  check(Array.isArray(toolsets ?? []), "`toolsets` must be an array of names", toolsets);
  const known = state.toolsets.map(({ name }) => name);
  const unknown = toolsets?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const nearest = findNearestNames(unknown, known);
    throw failure("ToolsetNotFound", { name: unknown, otherKind: undefined, nearest });
  }
  const isOf = (tool: SessionTool) => tool.toolsets.some((name) => toolsets?.includes(name));
  return search(state, query, limit, (tool) => toolsets === undefined || isOf(tool));
}

function findRivals({ tools }: SessionState): TrailblazeError | undefined {
  const rivals = tools.filter(({ name }) => name === searchToolName);
  if (rivals.length === 0) return undefined;
  const sources = [...rivals.map(({ source }) => formatSource(source)), "the search for tools"];
  return failure("NameCollision", { collisions: [{ name: searchToolName, sources }], isReserved: true });
}

/** Throws `TrailblazeError` `NameCollision` if a tool of the state has the name of the search. */
export function refuseSearchName(state: SessionState): void {
  const collision = findRivals(state);
  if (collision !== undefined) throw collision;
}

/** What one host, or one client, has found of the tools of a session, which it is then shown. */
export class ToolSearch {
  readonly #state: () => SessionState;
  readonly #reportOnce: (problem: Problem) => void;
  readonly #listedName: (name: string) => string;
  readonly #found = new Set<string>();
  /** Whether models have been given the search. */
  isUsed = false;

  /** `listedName`: the name with which a tool is listed, by its name in the session. */
  constructor(
    state: () => SessionState,
    reportOnce: (problem: Problem) => void,
    listedName: (name: string) => string = (name) => name,
  ) {
    this.#state = state;
    this.#reportOnce = reportOnce;
    this.#listedName = listedName;
  }

  /** The tools for a model. Throws `TrailblazeError`: `InvalidArguments`, `NameCollision` if a tool has the search's name. */
  select(options: LlmToolsOptions): SessionTool[] {
    checkOptions(options);
    if (options.above !== Number.POSITIVE_INFINITY) refuseSearchName(this.#state());
    return this.list(options);
  }

  /** The same without checks: a tool with the name of the search is left out and reported. `grows`: with those found so far. */
  list({ above = defaultAbove, always }: LlmToolsOptions, grows = true): SessionTool[] {
    const state = this.#state();
    const isSearched = above !== Number.POSITIVE_INFINITY;
    this.isUsed ||= isSearched;
    const collision = isSearched ? findRivals(state) : undefined;
    if (collision !== undefined) this.#reportOnce(collision.problem);
    const tools = state.toolsForLlm().filter(({ name }) => !isSearched || name !== searchToolName);
    const named = this.#findNamed(tools, always);
    if (tools.length <= above) return tools;
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    const found = grows ? [...this.#found].flatMap((name) => byName.get(name) ?? []) : [];
    return [...new Set([...named, createSearchTool(), ...found])];
  }

  /** Those of the tools that names which calls take refer to. An unknown name is reported once. */
  #findNamed(tools: readonly SessionTool[], names: readonly string[] = []): SessionTool[] {
    return names.flatMap((name) => {
      const tool = attempt(() => this.#state().resolve(name).shown);
      if (tool !== undefined && tools.includes(tool)) return [tool];
      const known = tools.map((one) => one.name);
      const nearest = findNearestNames(name, known);
      this.#reportOnce(createProblem("UnmatchedPattern", { key: "always", pattern: name, nearest }));
      return [];
    });
  }

  /**
   * Answers a call of the search; what it finds is shown from then on. Arguments that do not fit are a failure. `among`: only
   * these tools. The answer is JSON, which keeps the texts of authors apart.
   */
  call(written: unknown = {}, among?: readonly string[]): ToolResult {
    if (!isRecord(written))
      return failedResult(`The arguments must be an object, but they are ${describeType(written)}.`);
    const { query } = written;
    const limit = typeof written.limit === "number" ? Math.min(written.limit, mostForModels) : written.limit;
    try {
      const isOffered = ({ name }: SessionTool) =>
        name !== searchToolName && (among === undefined || among.includes(name));
      const found = search(this.#state(), query, limit ?? undefined, isOffered).map(({ tool }) => tool);
      for (const { name } of found) this.#found.add(name);
      const tools = found.map(({ name, description, title, inputSchema }) => {
        const words = description ?? title;
        const listed = this.#listedName(name);
        return { name: listed, ...(words === undefined ? {} : { description: words }), inputSchema };
      });
      const structuredContent = structuredClone({ tools });
      const message =
        tools.length === 0 ? "No tool fits. Try other words, or fewer." : JSON.stringify(structuredContent);
      return { variant: "Success", message, content: [{ type: "text", text: message }], structuredContent };
    } catch (error) {
      if (error instanceof TrailblazeError) return failedResult(error.message);
      throw error;
    }
  }
}
