import { isRecord } from "../data/parse-json.ts";

export type Definition = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

export const recordsIn = (value: unknown): Definition[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

export const entriesOf = (value: unknown): [string, unknown][] =>
  isRecord(value) ? Object.entries(value) : [];
