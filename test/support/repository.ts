import { fileURLToPath } from "node:url";

/** Absolute path of something in this repository. */
export const inRepository = (path: string): string =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url));
