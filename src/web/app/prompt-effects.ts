import { options } from 'preact'

/**
 * Runs effects right after the page was rendered, as React does after a click or a key, rather than with the next
 * frame: a guard against unsaved changes is there before the next key.
 */
export const startPromptEffects = (): void => {
  options.requestAnimationFrame = (run) => queueMicrotask(run)
}
