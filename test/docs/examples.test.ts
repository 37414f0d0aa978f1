// The documentation is its own expectation: every example runs, and the page is compared with itself as the examples
// would fill it in. `npx vitest run test/docs -u` writes what they print now into the pages; read the diff.
import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { ExampleProject } from "./example-project.ts";
import { type Block, formatMarkdown, type Part, parseMarkdown } from "./markdown.ts";
