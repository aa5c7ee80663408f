import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { SearchAddon } from '@xterm/addon-search'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { Terminal as Xterm } from '@xterm/xterm'
import { type ConsoleLog, mostLines } from './console-log.ts'
import { allowSpanStyles, withStyleNonce } from './content-policy.ts'
import { findOptions, terminalTheme } from './terminal-theme.ts'

/** `isRead`: lines are put where readers of screens find them. */
export type TerminalLook = { fontSize: number; wraps: boolean; isRead: boolean }
/** What a reader of screens is told. */
export type TerminalTexts = { label: string; tooMuch: string }
export type Found = { at: number; count: number }

/** Columns of a terminal that does not wrap. */
const longestRow = 500
const mostMatches = 1000

// The terminal writes colours that are none of the sixteen as attributes.
allowSpanStyles()

/** Only addresses of the web are followed, and the page there learns nothing of this one. */
function follow(_event: MouseEvent, address: string): void {
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? '')) return
  window.open(address, '_blank', 'noopener,noreferrer')
}

/** A terminal that shows a log, and keeps up with it once a frame. */
export class LogTerminal {
  readonly #xterm: Xterm
  readonly #fit = new FitAddon()
  readonly #search = new SearchAddon({ highlightLimit: mostMatches })
  readonly #log: ConsoleLog
  readonly #stops: (() => void)[]
  #next = 0
  #clears: number
  #frame = 0
  #isWriting = false
  #wraps = true

  constructor(place: HTMLElement, log: ConsoleLog, look: TerminalLook, texts: TerminalTexts) {
    Xterm.strings.promptLabel = texts.label
    Xterm.strings.tooMuchOutput = texts.tooMuch
    this.#log = log
    this.#clears = log.since(0).clears
    this.#xterm = new Xterm({
      allowProposedApi: true,
      disableStdin: true,
      cursorInactiveStyle: 'none',
      convertEol: true,
      scrollback: mostLines,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--default-mono-font-family'),
      lineHeight: 1.25,
      minimumContrastRatio: 4.5,
      theme: terminalTheme(),
      linkHandler: { activate: follow },
      fontSize: look.fontSize,
      screenReaderMode: look.isRead,
    })
    for (const addon of [this.#fit, this.#search, new WebLinksAddon(follow)]) this.#xterm.loadAddon(addon)
    withStyleNonce(() => this.#xterm.open(place))
    this.#xterm.attachCustomKeyEventHandler((event) => this.#press(event))
    this.#wraps = look.wraps
    this.fit()
    this.#stops = [log.watch(this.#soon)]
    this.#soon()
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame)
    for (const stop of this.#stops) stop()
    this.#xterm.dispose()
  }

  setLook({ fontSize, wraps, isRead }: TerminalLook): void {
    this.#xterm.options.fontSize = fontSize
    this.#xterm.options.screenReaderMode = isRead
    this.#wraps = wraps
    this.fit()
  }

  setTheme(): void {
    this.#xterm.options.theme = terminalTheme()
  }

  /** As many rows and columns as there is room for. */
  readonly fit = (): void => {
    const room = this.#fit.proposeDimensions()
    if (!room || !Number.isFinite(room.cols) || !Number.isFinite(room.rows)) return
    this.#xterm.resize(this.#wraps ? room.cols : Math.max(room.cols, longestRow), room.rows)
  }

  /** Tells whether the newest line is in sight, until the returned function is called. */
  onScroll(listener: (isAtEnd: boolean) => void): () => void {
    const tell = () => {
      const { viewportY, baseY } = this.#xterm.buffer.active
      listener(viewportY >= baseY)
    }
    const events = [this.#xterm.onScroll(tell), this.#xterm.onRender(tell)]
    return () => events.forEach((event) => event.dispose())
  }

  /** Tells how much was found, until the returned function is called. */
  onFound(listener: (found: Found) => void): () => void {
    const event = this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
      listener({ at: resultIndex + 1, count: resultCount }),
    )
    return () => event.dispose()
  }

  find(text: string, isBackward: boolean, isIncremental: boolean): void {
    if (text === '') return this.stopFinding()
    const options = { ...findOptions(), incremental: isIncremental }
    if (isBackward) this.#search.findPrevious(text, options)
    else this.#search.findNext(text, options)
  }

  stopFinding(): void {
    this.#search.clearDecorations()
    this.#xterm.clearSelection()
  }

  selection(): string {
    return this.#xterm.getSelection()
  }

  scrollToEnd(): void {
    this.#xterm.scrollToBottom()
  }

  readonly #soon = () => {
    if (this.#frame === 0 && !this.#isWriting) this.#frame = requestAnimationFrame(this.#show)
  }

  /** Lines that came since the last frame are written at once; the next are when the terminal has read them. */
  readonly #show = () => {
    this.#frame = 0
    const { lines, next, clears } = this.#log.since(this.#next)
    if (clears !== this.#clears) this.#xterm.reset()
    this.#next = next
    this.#clears = clears
    if (lines.length === 0) return
    this.#isWriting = true
    this.#xterm.write(`${lines.slice(-mostLines).join('\u001b[0m\n')}\u001b[0m\n`, () => {
      this.#isWriting = false
      this.#soon()
    })
  }

  /** Scrolls by keys; the rest belongs to the page. True lets the terminal see the key. */
  #press(event: KeyboardEvent): boolean {
    const scroll = scrolls[event.key]
    if (event.type !== 'keydown' || !scroll || event.ctrlKey || event.metaKey || event.altKey) return false
    scroll(this.#xterm)
    event.preventDefault()
    return false
  }
}

const scrolls: Partial<Record<string, (xterm: Xterm) => void>> = {
  ArrowUp: (xterm) => xterm.scrollLines(-1),
  ArrowDown: (xterm) => xterm.scrollLines(1),
  PageUp: (xterm) => xterm.scrollPages(-1),
  PageDown: (xterm) => xterm.scrollPages(1),
  Home: (xterm) => xterm.scrollToTop(),
  End: (xterm) => xterm.scrollToBottom(),
}
