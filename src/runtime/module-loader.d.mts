export interface LoadedSource {
  from: "module" | "definition" | "function";
  handler?: string;
  file?: string;
  path?: readonly string[];
  run?: unknown;
}

export class HandlerNotFoundError extends Error {
  readonly code: "HandlerNotFound";
}

export function loadFunction(place: {
  root: string;
  source: object;
}): Promise<(...args: readonly unknown[]) => unknown>;
