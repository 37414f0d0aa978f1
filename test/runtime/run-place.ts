import type { HandlerContext } from "../../src/runtime/handler-context.ts";
import type { CodePlace } from "../../src/runtime/tool-code.ts";

export const inModule = (root: string, handler: string): CodePlace => ({
  root,
  source: { from: "module", handler },
});

export const inDefinition = (root: string, file: string, ...path: string[]): CodePlace => ({
  root,
  source: { from: "definition", file, path },
});

export const createContext = (given: Partial<HandlerContext> = {}): HandlerContext => ({
  signal: new AbortController().signal,
  log: () => {},
  progress: () => {},
  options: {},
  callTool: async () => ({ content: [] }),
  ...given,
});
