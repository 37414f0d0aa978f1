import { type Check, findInItem } from "../finding.ts";

/** That every `${{ … }}` of a bundle is closed and is CEL. */
export const checkExpressions: Check = function* ({ expressionFaults }) {
  for (const { item, expression, reason, path } of expressionFaults) {
    yield findInItem(item, "InvalidExpression", { expression, reason }, path);
  }
};
