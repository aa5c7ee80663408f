import type { Egg } from '../../db/tables/eggs.ts'

/**
 * The egg with inherited values filled in, one level deep. Configuration and features come from
 * `configFrom` where the egg's own are null; the parent's file denylist always replaces the own one. An egg
 * without a script takes script, entry and container together from `copyScriptFrom`.
 */
export function effectiveEgg(egg: Egg, configFrom: Egg | null, copyScriptFrom: Egg | null): Egg {
  const script = egg.scriptInstall ? egg : (copyScriptFrom ?? egg)
  return {
    ...egg,
    features: egg.features ?? configFrom?.features ?? null,
    fileDenylist: (configFrom ?? egg).fileDenylist,
    configFiles: egg.configFiles ?? configFrom?.configFiles ?? null,
    configStartup: egg.configStartup ?? configFrom?.configStartup ?? null,
    configLogs: egg.configLogs ?? configFrom?.configLogs ?? null,
    configStop: egg.configStop ?? configFrom?.configStop ?? null,
    scriptInstall: script.scriptInstall,
    scriptEntry: script.scriptEntry,
    scriptContainer: script.scriptContainer,
  }
}
