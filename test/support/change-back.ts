import { afterEach, vi } from "vitest";

// One process runs many files, so no test leaves its variables to the next one.
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
