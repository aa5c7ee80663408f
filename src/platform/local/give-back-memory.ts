/**
 * Gives memory back to the system that only the start needed: 30 MiB of a process with the embedded database. Does
 * nothing where Node runs without `--expose-gc`. Spec: docs/operations.md#memory.
 */
export function giveBackMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
