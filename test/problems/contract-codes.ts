import type { Severity } from "../../src/problems/index.ts";

/** The codes of CONTRACT 12 by the severity they have in validation. */
export const validationCodes: Readonly<Record<Severity, readonly string[]>> = {
  error: [
    "NoExtension",
    "MalformedExtension",
    "UnknownExtensionKey",
    "InvalidDeclaration",
    "InvalidItemName",
    "DuplicateDeclaration",
    "MissingRootDirectory",
    "MissingDefinitionFile",
    "DuplicateDefinitionFiles",
    "InvalidDefinitionContents",
    "UnsupportedDefinitionFormat",
    "DefinitionOutsidePackage",
    "DefinitionTooLarge",
    "InvalidServerDefinition",
    "InvalidToolDefinition",
    "InvalidToolsetDefinition",
    "InvalidPromptDefinition",
    "InvalidResourceDefinition",
    "DuplicateResourceUri",
    "InvalidReference",
    "ReferenceCycle",
    "HandlerNotFound",
    "InvalidInputSchema",
    "ReservedParameter",
    "InvalidAdvertisedName",
    "DuplicateAdvertisedName",
    "InvalidMetaValue",
    "ControlCharacters",
    "HiddenText",
    "FileNotPublished",
    "InvalidExpression",
  ],
  warning: [
    "UnknownBuiltIn",
    "UnknownMetaKey",
    "NameMismatch",
    "OrphanDefinitionFile",
    "ShadowedDefinition",
    "MissingDescription",
    "ToolNameConvention",
    "ReservedToolPrefix",
    "LifecycleScript",
    "MissingKeyword",
    "HostVersionUnsupported",
    "UnsafePattern",
  ],
  info: ["HandlerUnchecked"],
};

/** The operational codes of CONTRACT 12 by the severity they have in an operation. */
export const operationalCodes: Readonly<Record<"error" | "warning", readonly string[]>> = {
  error: [
    "InvalidQualifiedName",
    "PackNotInstalled",
    "PackVersionMismatch",
    "ExtensionNotFound",
    "ServerNotFound",
    "ToolNotFound",
    "ToolsetNotFound",
    "PromptNotFound",
    "ResourceNotFound",
    "AmbiguousName",
    "NameCollision",
    "DuplicateBundleEntry",
    "InvalidConfig",
    "ProjectNotFound",
    "MalformedPackageJson",
    "PackageJsonTooLarge",
    "UnsupportedLayout",
    "ServerStartFailed",
    "InitializeFailed",
    "ClientConfigMalformed",
    "ClientConfigConflict",
    "NoProjectScope",
    "UnknownClient",
    "UnknownInstallLocation",
    "RegistryUnavailable",
    "UnsupportedSpec",
    "InstallFailed",
  ],
  warning: ["ShadowedPack", "StdoutNoise", "ConfinementUnavailable", "UnmatchedPattern"],
};

/** Operational codes that validation reports as well. */
export const alsoInValidation: readonly string[] = ["PackNotInstalled", "PackVersionMismatch"];

/**
 * Codes of validation that the contract does not name: what it gives no code, what would be lost in silence, and a package
 * that takes over a command.
 */
export const ownValidationCodes: readonly string[] = ["ReservedCommand", "UnknownDefinitionKey"];

/** Codes of validation that contract/PUBLISH.md adds: what makes an installed copy fail. */
export const publishCodes: readonly string[] = [
  "InvalidPackageManifest",
  "PrivatePackage",
  "TypeScriptNotPublishable",
  "UndeclaredDependency",
  "UnexpandedVariable",
  "UnparsableModule",
  "UnpublishableDependency",
  "WrongModuleFormat",
];

/** Codes of what is written from a pack, which contract/PUBLISH.md adds. */
export const writingCodes: readonly string[] = [
  "CatalogFolderTaken",
  "DocsMarkersMissing",
  "EnvironmentNotExported",
  "ExportConflict",
  "ExportDescriptionTooLong",
  "ExportNameUnusable",
  "ExportNeedsBin",
  "ExportNeedsMcpName",
];

/** Codes for what the contract asks (exit codes, JSON) but gives no code of its own. */
export const ownCodes: readonly string[] = [
  "AuthorizationRequired",
  "ClientConfigNotFound",
  "ClientConfigUnwritable",
  "FailsAsInstalled",
  "HostListenerFailed",
  "InputRequired",
  "IntegerRounded",
  "InvalidArguments",
  "InternalError",
  "NotAPack",
  "PromptFailed",
  "RemoteRedirect",
  "ResourceFailed",
  "ServerDied",
  "ServerListIncomplete",
  "ServerResultIncomplete",
  "ServerPackageNotInstalled",
  "SessionClosed",
  "SimilarName",
  "ToolListChanged",
  "ChangeNotApplied",
  "IsolationOverridden",
  "UnknownCode",
  "WorkspaceIncomplete",
];

/** Codes of validation that contract/LOCK.md adds: what a pack needs. */
export const needsCodes: readonly string[] = ["InvalidNeeds", "NeedsExceeded"];

/** Codes of operations that contract/LOCK.md and contract/CONSENT.md add: who a pack is, what differs from trailblaze.lock. */
export const lockCodes: readonly string[] = [
  "AliasedPack",
  "LockMalformed",
  "LockMismatch",
  "LockMissing",
  "LockOutdated",
  "NotApproved",
  "NotLocked",
];
