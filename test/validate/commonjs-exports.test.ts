import fc from "fast-check";
import { expect, test } from "vitest";
import { rulesOutExport } from "../../src/validate/modules/find-export.ts";

const statements = [
  "exports.alpha = 1;",
  "module.exports.beta = 1;",
  'exports["gamma"] = 1;',
  'Object.defineProperty(exports, "delta", { value: 1, configurable: true });',
  "module.exports = { alpha: 1, beta() {} };",
  "module.exports = { ...other };",
  "module.exports = other;",
  "module.exports = make();",
  "function helper() {} helper.gamma = 1; module.exports = helper;",
  "module.exports = function () {};",
  "module.exports = class { static alpha = 1 };",
  "Object.assign(exports, other);",
  "Object.assign(module.exports, make());",
  'for (const name of ["al", "be"]) exports[name + (name === "al" ? "pha" : "ta")] = 1;',
  "const self = exports; self.alpha = 1;",
  "exports = module.exports = make();",
  'Object.defineProperty(exports, ["del", "ta"].join(""), { value: 1, configurable: true });',
  "Object.defineProperties(exports, make());",
  "/* a comment */ Object.assign(exports, other);",
  "/* a comment\n * of two lines */ Object.assign(exports, other);",
  "// exports everything",
  "const local = { alpha: 2 };",
  "const product = 2\n* exports.zero;",
];

test("an export that validation rules out does not exist when the module runs", () => {
  const module = fc.uniqueArray(fc.constantFrom(...statements), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(module, (lines) => {
      const text = lines.join("\n");
      const loaded = { exports: {} as object };
      const value = { value: 1, writable: true, configurable: true, enumerable: true };
      const hidden = { epsilon: value, alpha: value, gamma: value };
      const run = new Function("module", "exports", "other", "make", text);
      try {
        run(loaded, loaded.exports, hidden, () => ({ ...hidden }));
      } catch {
        return; // A module that throws exports nothing to anybody.
      }
      for (const name of ["alpha", "beta", "gamma", "delta", "epsilon"]) {
        const isThere = Object.hasOwn(loaded.exports, name);
        if (isThere) expect(rulesOutExport(text, name), `${name} in ${text}`).toBe(false);
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["exports.alpha = 1;", "beta"],
  ["module.exports = { alpha: 1, gamma };", "beta"],
  ["function alpha() {}\nmodule.exports = alpha;", "beta"],
  ["// Exports alpha. See also module.exports.\nexports.alpha = 1;", "beta"],
  ["/**\n * What exports there are:\n */\nexports.alpha = exports.gamma = void 0;", "beta"],
  ['Object.defineProperty(exports, "__esModule", { value: true });\nexports.alphabeta = 1;', "beta"],
  ["exports.$alpha = 1;", "alpha"],
])("validation rules out an export that a simple CommonJS module lacks: %j", (text, name) => {
  expect(rulesOutExport(text, name)).toBe(true);
});
