import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import type { SearchAddon } from '@xterm/addon-search'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { type IMarker, Terminal as Xterm } from '@xterm/xterm'
import { type ConsoleLog, type Line, maxLines } from './console-log.ts'
import { allowSpanStyles, withStyleNonce } from './content-policy.ts'
import { findErrorRow } from './error-rows.ts'
import type { Level } from './line-level.ts'
import { type OpenFile, pathLinks } from './path-links.ts'
import { findOptions, terminalTheme } from './terminal-theme.ts'

/** `hasScreenReader` renders the lines where screen readers find them. */
export type TerminalOptions = { fontSize: number; wraps: boolean; hasScreenReader: boolean }
/** Texts for screen readers. */
export type TerminalTexts = { label: string; tooMuch: string }
export type SearchResult = { at: number; count: number }

/** Width of a terminal without line wrapping, in columns. */
const unwrappedColumns = 500
const maxMatches = 1000

// xterm writes colours outside its palette as style attributes.
allowSpanStyles()

/** Opens only web addresses, without a referrer. */
function openLink(_event: MouseEvent, url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return
  window.open(url, '_blank', 'noopener,noreferrer')
}

/** A terminal that shows a log; new lines are written once per frame. */
export class LogTerminal {
  readonly #xterm: Xterm
  readonly #fit = new FitAddon()
  /** Loaded with the first search. */
  #search: SearchAddon | null = null
  #wanted = ''
  readonly #log: ConsoleLog
  readonly #unsubscribers: (() => void)[]
  #next = 0
  #clears: number
  #frame = 0
  #isWriting = false
  #wraps = true
  /** The levels that are shown; null is all of them. */
  #levels: ReadonlySet<Level> | null = null
  #isStale = false
  #isDisposed = false
  /** The line of the error that was shown last. */
  #error: IMarker | undefined
  #openFile: OpenFile = null

  constructor(container: HTMLElement, log: ConsoleLog, options: TerminalOptions, texts: TerminalTexts) {
    Xterm.strings.promptLabel = texts.label
    Xterm.strings.tooMuchOutput = texts.tooMuch
    this.#log = log
    this.#clears = log.since(0).clears
    this.#xterm = new Xterm({
      allowProposedApi: true,
      disableStdin: true,
      cursorInactiveStyle: 'none',
      convertEol: true,
      scrollback: maxLines,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--default-mono-font-family'),
      lineHeight: 1.25,
      minimumContrastRatio: 4.5,
      theme: terminalTheme(),
      linkHandler: { activate: openLink },
      fontSize: options.fontSize,
      screenReaderMode: options.hasScreenReader,
    })
    for (const addon of [this.#fit, new WebLinksAddon(openLink)]) this.#xterm.loadAddon(addon)
    this.#xterm.registerLinkProvider(pathLinks(this.#xterm, () => this.#openFile))
    withStyleNonce(() => this.#xterm.open(container))
    this.#xterm.attachCustomKeyEventHandler((event) => this.#onKey(event))
    this.#wraps = options.wraps
    this.fit()
    this.#unsubscribers = [log.subscribe(this.#scheduleFrame)]
    this.#scheduleFrame()
  }

  dispose(): void {
    this.#isDisposed = true
    cancelAnimationFrame(this.#frame)
    for (const unsubscribe of this.#unsubscribers) unsubscribe()
    this.#xterm.dispose()
  }

  setOptions({ fontSize, wraps, hasScreenReader }: TerminalOptions): void {
    this.#xterm.options.fontSize = fontSize
    this.#xterm.options.screenReaderMode = hasScreenReader
    this.#wraps = wraps
    this.fit()
  }

  setOpenFile(openFile: OpenFile): void {
    this.#openFile = openFile
  }

  /** Shows the lines of these levels only; null shows all. */
  setLevels(levels: ReadonlySet<Level> | null): void {
    if (levels === this.#levels) return
    this.#levels = levels
    this.#next = 0
    this.#isStale = true
    this.#scheduleFrame()
  }

  /** Scrolls to the next error after the one shown last, or to the newest, and selects its line. Returns whether there is one. */
  showError(isBackward: boolean): boolean {
    const { active } = this.#xterm.buffer
    const line = this.#error?.line ?? -1
    const from = line >= 0 ? line : active.length
    const row = findErrorRow(active, from, isBackward || line < 0 ? -1 : 1)
    if (row === null) return false
    this.#error?.dispose()
    this.#error = this.#xterm.registerMarker(row - active.baseY - active.cursorY)
    this.#xterm.scrollToLine(Math.max(0, row - Math.floor(this.#xterm.rows / 3)))
    this.#xterm.selectLines(row, row)
    return true
  }

  setTheme(): void {
    this.#xterm.options.theme = terminalTheme()
  }

  /** Fits the rows and columns to the container. */
  readonly fit = (): void => {
    const room = this.#fit.proposeDimensions()
    if (!room || !Number.isFinite(room.cols) || !Number.isFinite(room.rows)) return
    this.#xterm.resize(this.#wraps ? room.cols : Math.max(room.cols, unwrappedColumns), room.rows)
  }

  /** Calls the listener with whether the newest line is visible, until the returned function is called. */
  onScroll(listener: (isAtEnd: boolean) => void): () => void {
    const notify = () => {
      const { viewportY, baseY } = this.#xterm.buffer.active
      listener(viewportY >= baseY)
    }
    const events = [this.#xterm.onScroll(notify), this.#xterm.onRender(notify)]
    return () => events.forEach((event) => event.dispose())
  }

  /** Loads what searches need, and calls the listener with the number of matches, until the returned function is called. */
  onSearchResult(listener: (result: SearchResult) => void): () => void {
    let stop: (() => void) | null = () => undefined
    void this.#loadSearch().then((search) => {
      if (!stop) return
      const event = search.onDidChangeResults(({ resultIndex, resultCount }) =>
        listener({ at: resultIndex + 1, count: resultCount }),
      )
      stop = () => event.dispose()
    })
    return () => {
      stop?.()
      stop = null
    }
  }

  async #loadSearch(): Promise<SearchAddon> {
    const { SearchAddon } = await import('@xterm/addon-search')
    if (!this.#search) {
      this.#search = new SearchAddon({ highlightLimit: maxMatches })
      if (!this.#isDisposed) this.#xterm.loadAddon(this.#search)
    }
    return this.#search
  }

  async find(text: string, isBackward: boolean, isIncremental: boolean): Promise<void> {
    this.#wanted = text
    if (text === '') return this.clearSearch()
    const search = await this.#loadSearch()
    // The user typed on while the code was loading.
    if (this.#wanted !== text) return
    const options = { ...findOptions(), incremental: isIncremental }
    if (isBackward) search.findPrevious(text, options)
    else search.findNext(text, options)
  }

  clearSearch(): void {
    this.#wanted = ''
    this.#search?.clearDecorations()
    this.#xterm.clearSelection()
  }

  selection(): string {
    return this.#xterm.getSelection()
  }

  scrollToEnd(): void {
    this.#xterm.scrollToBottom()
  }

  readonly #scheduleFrame = () => {
    if (this.#frame === 0 && !this.#isWriting) this.#frame = requestAnimationFrame(this.#writeNewLines)
  }

  /** Writes the lines since the last frame in one go, and waits until the terminal has processed them. */
  readonly #writeNewLines = () => {
    this.#frame = 0
    const { lines, next, clears } = this.#log.since(this.#next, this.#levels)
    if (clears !== this.#clears || this.#isStale) this.#xterm.reset()
    this.#isStale = false
    this.#next = next
    this.#clears = clears
    if (lines.length === 0) return
    this.#isWriting = true
    this.#xterm.write(`${lines.slice(-maxLines).map(coloured).join('\u001b[0m\n')}\u001b[0m\n`, () => {
      this.#isWriting = false
      this.#scheduleFrame()
    })
  }

  /** Scrolls by keyboard. Returns false: the terminal itself handles no keys. */
  #onKey(event: KeyboardEvent): boolean {
    const scroll = scrolls[event.key]
    if (event.type !== 'keydown' || !scroll || event.ctrlKey || event.metaKey || event.altKey) return false
    scroll(this.#xterm)
    event.preventDefault()
    return false
  }
}

const colours: Record<Level, string> = { info: '', warn: '\u001b[33m', error: '\u001b[31m' }

/** Colours a line by its level, unless it brings colours of its own. */
const coloured = ({ text, level }: Line): string =>
  level === 'info' || text.includes('\u001b') ? text : colours[level] + text

const scrolls: Partial<Record<string, (xterm: Xterm) => void>> = {
  ArrowUp: (xterm) => xterm.scrollLines(-1),
  ArrowDown: (xterm) => xterm.scrollLines(1),
  PageUp: (xterm) => xterm.scrollPages(-1),
  PageDown: (xterm) => xterm.scrollPages(1),
  Home: (xterm) => xterm.scrollToTop(),
  End: (xterm) => xterm.scrollToBottom(),
}
