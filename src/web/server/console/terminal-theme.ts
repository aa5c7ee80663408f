import type { ITheme } from '@xterm/xterm'
import type { ISearchOptions } from '@xterm/addon-search'

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Returns the terminal colours of the current theme. */
export function terminalTheme(): ITheme {
  return {
    background: token('--surface'),
    foreground: token('--ink'),
    cursor: token('--surface'),
    cursorAccent: token('--surface'),
    selectionBackground: token('--brand-soft'),
    selectionInactiveBackground: token('--brand-soft'),
    selectionForeground: token('--ink'),
    scrollbarSliderBackground: token('--line-strong'),
    scrollbarSliderHoverBackground: token('--muted'),
    scrollbarSliderActiveBackground: token('--muted'),
    black: token('--ink'),
    brightBlack: token('--muted'),
    white: token('--muted'),
    brightWhite: token('--ink'),
    red: token('--bad'),
    brightRed: token('--bad'),
    green: token('--good'),
    brightGreen: token('--good'),
    yellow: token('--warn'),
    brightYellow: token('--warn'),
    blue: token('--info'),
    brightBlue: token('--info'),
    magenta: token('--brand-text'),
    brightMagenta: token('--brand-text'),
    cyan: token('--info'),
    brightCyan: token('--info'),
  }
}

/** Returns how search results are highlighted. */
export function findOptions(): ISearchOptions {
  return {
    decorations: {
      matchBackground: token('--warn-soft'),
      matchOverviewRuler: token('--warn'),
      activeMatchBackground: token('--brand-soft'),
      activeMatchBorder: token('--brand'),
      activeMatchColorOverviewRuler: token('--brand'),
    },
  }
}
