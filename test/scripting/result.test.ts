import { expect, test } from "vitest";
import {
  error,
  fatalError,
  missingRequiredArgs,
  success,
  validationError,
} from "../../packages/scripting/src/result.ts";

const text = (message: string) => [{ type: "text", text: message }];

test("success and error create plain MCP results", () => {
  expect(success("User data fetched")).toStrictEqual({ content: text("User data fetched"), isError: false });
  const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
  expect(success([image], { structuredContent: { id: 7 } })).toStrictEqual({
    content: [image],
    structuredContent: { id: 7 },
    isError: false,
  });
  expect(error("API request failed: timeout")).toStrictEqual({
    content: text("API request failed: timeout"),
    isError: true,
  });
});

test("the other results have their variant in `_meta.trailblaze`", () => {
  expect(fatalError("Device is disconnected")).toStrictEqual({
    content: text("Device is disconnected"),
    isError: true,
    _meta: { trailblaze: { variant: "FatalError" } },
  });
  expect(missingRequiredArgs(["issueKey"])).toStrictEqual({
    content: text("Missing required argument: issueKey"),
    isError: true,
    _meta: { trailblaze: { variant: "MissingRequiredArgs", missing: ["issueKey"] } },
  });
  expect(missingRequiredArgs(["a", "b"], "Say which.")).toMatchObject({ content: text("Say which.") });
  expect(missingRequiredArgs(["a", "b"]).content).toEqual(text("Missing required arguments: a, b"));
  expect(validationError("No such element")).toStrictEqual({
    content: text("No such element"),
    isError: true,
    _meta: { trailblaze: { variant: "MaestroValidationError" } },
  });
});
