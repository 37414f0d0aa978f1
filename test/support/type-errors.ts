import ts from "typescript";
import { inRepository } from "./repository.ts";

/** Parsed once: libraries and their like are the same for every program. */
const parsed = new Map<string, ts.SourceFile | undefined>();
const isStable = (file: string) => file.startsWith(inRepository("."));

/** What a strict compiler says of these modules, an error each. Modules that they import are read, not checked. */
export function findTypeErrors(files: readonly string[], more: ts.CompilerOptions): ts.Diagnostic[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    ...more,
  };
  const host = ts.createCompilerHost(options);
  const program = ts.createProgram([...files], options, {
    ...host,
    getSourceFile(file, languageVersion) {
      if (!isStable(file)) return host.getSourceFile(file, languageVersion);
      if (!parsed.has(file)) parsed.set(file, host.getSourceFile(file, languageVersion));
      return parsed.get(file);
    },
  });
  const sources = files.map((file) => program.getSourceFile(file));
  return [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...sources.flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
      ...(options.declaration ? program.getDeclarationDiagnostics(source) : []),
    ]),
  ];
}

export const messageOf = ({ messageText }: ts.Diagnostic): string =>
  ts.flattenDiagnosticMessageText(messageText, "\n");
