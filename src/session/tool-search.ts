// Finds tools by words, and shows models of many tools those that they have found.
import MiniSearch from "minisearch";
import { memoize } from "../data/memoize.ts";
import { describeType, isRecord } from "../data/parse-json.ts";
import { attempt } from "../files/file-errors.ts";
import { createProblem, failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { defaultAbove, searchToolName } from "../qualified-names/advertised-names.ts";
import { findNearestNames, unknownName } from "../qualified-names/nearest-names.ts";
import { failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { SessionTool } from "./items.ts";
import { formatSource } from "./names.ts";
import type { SessionFrame } from "./session-frame.ts";
import type { SessionState } from "./session-state.ts";

/** `HTTP` and `Server` of `HTTPServer`; digits, and characters of scripts without spaces, stand alone. */
const words =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;

/** How much a word counts, by where it is. */
const boost = { name: 5, title: 3, toolset: 1.5, description: 1, parameters: 0.8 };
/** In UTF-16 code units: authors and models may write any number, and each word takes time. */
const longestText = 4000;
const longestQuery = 1000;
const mostWords = 16;

/** A tool that a search found. */
export interface FoundTool {
  tool: SessionTool;
  /** Higher fits better. Comparable within one search only. */
  score: number;
}

const indexOf = memoize((state: SessionState): MiniSearch => {
  const index = new MiniSearch({
    fields: Object.keys(boost),
    tokenize: (text) => text.slice(0, longestText).match(words) ?? [],
    searchOptions: {
      boost,
      tokenize: (text) => [...new Set(text.match(words))].slice(0, mostWords),
      // One letter begins too much; one character of a script without spaces is half a word.
      prefix: (word) => word.length > 1 || word > "\u0e00",
      fuzzy: (word) => (word.length < 4 ? false : word.length < 8 ? 1 : 2),
    },
  });
  for (const [id, { name, title, description, inputSchema, toolsets }] of state.toolsForLlm().entries()) {
    const { properties } = inputSchema;
    const parameters = isRecord(properties) ? Object.keys(properties).join(" ") : "";
    index.add({ id, name, title, description, parameters, toolset: toolsets.join(" ") });
  }
  return index;
}, new WeakMap());

/** Which tools a model gets if there are many. */
export interface LlmToolsOptions {
  /**
   * With more tools than this, a model gets `always`, the tool `search_tools`, and what it has found. Default: 30.
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

/** Best first: a tool with the whole query as its name, then by words. Throws `InvalidArguments` and `ToolsetNotFound`. */
export function searchTools(
  state: SessionState,
  query: unknown,
  { limit = defaultLimit, toolsets }: Omit<SearchOptions, "limit"> & { limit?: unknown },
): FoundTool[] {
  if (typeof query !== "string")
    throw failure("InvalidArguments", { reason: "What to search for must be a string" });
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)
    throw failure("InvalidArguments", { reason: "`limit` must be a positive integer" });
  const known = state.parts.toolsets.map(({ name }) => name);
  const unknown: string | undefined = toolsets?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownName("ToolsetNotFound", unknown, known);
  const tools = state.toolsForLlm();
  const text = query.slice(0, longestQuery);
  const results = indexOf(state).search(text);
  const scores = new Map<number, number>(results.map(({ id, score }) => [id, score]));
  const best = Math.max(0, ...scores.values());
  const wanted = text.trim();
  return tools
    .flatMap((tool, id) => {
      const isNamed = [tool.name, tool.qualifiedName].some(
        (name) => name?.toLowerCase() === wanted.toLowerCase(),
      );
      const score = isNamed ? best + (tool.name === wanted ? 2 : 1) : scores.get(id);
      const isOffered = toolsets === undefined || tool.toolsets.some((name) => toolsets.includes(name));
      return score !== undefined && isOffered ? [{ tool, score }] : [];
    })
    .sort((one, other) => other.score - one.score)
    .slice(0, limit);
}

/** Throws `TrailblazeError` `NameCollision` if a tool of the state has the name of the search; with `report`, reports it. */
export function refuseSearchName({ tools }: SessionState, report?: (problem: Problem) => void): void {
  const rivals = tools.filter(({ name }) => name === searchToolName);
  if (rivals.length === 0) return;
  const sources = [...rivals.map(({ source }) => formatSource(source)), "the search for tools"];
  const args = { collisions: [{ name: searchToolName, sources }], isReserved: true };
  if (report === undefined) throw failure("NameCollision", args);
  report(createProblem("NameCollision", args));
}

/** What one host, or one client, has found of the tools of a session, which it is then shown. */
export class ToolSearch {
  /** Of the session, once it is open. */
  readonly #frame: () => SessionFrame;
  readonly #listedName: (name: string) => string;
  readonly #found = new Set<string>();
  /** Whether models have been given the search. */
  isUsed = false;

  /** `listedName`: the name with which a tool is listed, by its name in the session. */
  constructor(frame: () => SessionFrame, listedName = (name: string) => name) {
    this.#frame = frame;
    this.#listedName = listedName;
  }

  /** The tools for a model. One with the name of the search is left out and reported. `grows`: with those found so far. */
  list({ above = defaultAbove, always = [] }: LlmToolsOptions, grows = true): SessionTool[] {
    const { state: current, reportOnce } = this.#frame();
    const state = current();
    this.isUsed = true;
    refuseSearchName(state, reportOnce);
    const tools = state.toolsForLlm().filter(({ name }) => name !== searchToolName);
    const named = always.flatMap((pattern) => {
      const tool = attempt(() => state.resolve(pattern).shown);
      if (tool !== undefined && tools.includes(tool)) return [tool];
      const known = tools.map(({ name }) => name);
      const nearest = findNearestNames(pattern, known);
      reportOnce(createProblem("UnmatchedPattern", { key: "always", pattern, nearest }));
      return [];
    });
    if (tools.length <= above) return tools;
    const found = grows ? tools.filter(({ name }) => this.#found.has(name)) : [];
    return [...new Set([...named, createSearchTool(), ...found])];
  }

  /** What it finds is shown from then on. The answer is JSON, which keeps the texts of authors apart. */
  call(written: unknown = {}): ToolResult {
    if (!isRecord(written))
      return failedResult(`The arguments must be an object, but they are ${describeType(written)}.`);
    const { query, limit = defaultLimit } = written;
    try {
      const most = typeof limit === "number" ? Math.min(limit, mostForModels) : limit;
      const found = searchTools(this.#frame().state(), query, { limit: most });
      const tools = found.flatMap(({ tool: { name, title, description = title, inputSchema } }) => {
        if (name === searchToolName) return [];
        this.#found.add(name);
        return [{ name: this.#listedName(name), ...(description && { description }), inputSchema }];
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
