import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { Compartment, EditorState, Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { site } from '../../app/site.ts'
import { editorTheme } from './editor-theme.ts'

/** The content of an editor, and a callback that marks exactly this content as saved. */
export type Content = { text: string; markSaved: () => void }

type Options = {
  parent: HTMLElement
  text: string
  lineBreak: '\n' | '\r\n'
  isReadOnly: boolean
  /** The accessible name of the editor. */
  label: string
  /** Translations of the editor's own panels, by their English texts. */
  phrases: Record<string, string>
  onDirty: (isDirty: boolean) => void
  /** Called after each change of the text. */
  onChange: () => void
  onSave: (content: Content) => void
}

/** A code editor with the text of a file. */
export class CodeEditor {
  readonly #view: EditorView
  readonly #wrap = new Compartment()
  readonly #language = new Compartment()
  readonly #readOnly = new Compartment()
  readonly #search = new Compartment()
  readonly #onDirty: Options['onDirty']
  readonly #onChange: Options['onChange']
  readonly #onSave: Options['onSave']
  #saved: Text
  #isDirty = false

  constructor(options: Options) {
    this.#onDirty = options.onDirty
    this.#onChange = options.onChange
    this.#onSave = options.onSave
    this.#view = new EditorView({
      parent: options.parent,
      state: EditorState.create({ doc: options.text, extensions: this.#extensions(options) }),
    })
    this.#saved = this.#view.state.doc
  }

  #extensions({ lineBreak, isReadOnly, label, phrases }: Options) {
    const save = () => {
      this.save()
      return true
    }
    const find = () => {
      void this.find()
      return true
    }
    return [
      EditorView.cspNonce.of(site.nonce),
      // Only this ends a line; other separators stay as they are, so that the file is written as it was read.
      EditorState.lineSeparator.of(lineBreak),
      EditorState.phrases.of(phrases),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      this.#search.of([]),
      keymap.of([
        { key: 'Mod-s', run: save, preventDefault: true },
        { key: 'Mod-f', run: find, preventDefault: true },
        ...defaultKeymap,
        ...historyKeymap,
        indentWithTab,
      ]),
      editorTheme,
      this.#wrap.of([]),
      this.#language.of([]),
      this.#readOnly.of(EditorState.readOnly.of(isReadOnly)),
      EditorView.updateListener.of(({ docChanged }) => {
        if (!docChanged) return
        this.#updateDirty()
        this.#onChange()
      }),
    ]
  }

  #updateDirty(): void {
    const isDirty = !this.#view.state.doc.eq(this.#saved)
    if (isDirty === this.#isDirty) return
    this.#isDirty = isDirty
    this.#onDirty(isDirty)
  }

  /** Passes the content to `onSave`. */
  save(): void {
    const { doc } = this.#view.state
    const markSaved = () => {
      this.#saved = doc
      this.#updateDirty()
    }
    this.#onSave({ text: this.#view.state.sliceDoc(), markSaved })
  }

  setWrap(isWrapped: boolean): void {
    this.#view.dispatch({ effects: this.#wrap.reconfigure(isWrapped ? EditorView.lineWrapping : []) })
  }

  setReadOnly(isReadOnly: boolean): void {
    this.#view.dispatch({ effects: this.#readOnly.reconfigure(EditorState.readOnly.of(isReadOnly)) })
  }

  /** The text with `\n` between lines, whatever ends them in the file, so that offsets are positions. */
  get text(): string {
    return this.#view.state.doc.toString()
  }

  /** Replaces what differs from this text, as one change that can be undone. */
  setText(text: string): void {
    const before = this.text
    const max = Math.min(before.length, text.length)
    let start = 0
    while (start < max && before[start] === text[start]) start += 1
    let end = 0
    while (end < max - start && before.at(-1 - end) === text.at(-1 - end)) end += 1
    // As a string it would be split at the line break of the file only.
    const insert = Text.of(text.slice(start, text.length - end).split('\n'))
    this.#view.dispatch({ changes: { from: start, to: before.length - end, insert } })
  }

  /** Returns the line and column of a position, both from 1. */
  placeOf(position: number): { line: number; column: number } {
    const line = this.#view.state.doc.lineAt(Math.min(position, this.#view.state.doc.length))
    return { line: line.number, column: position - line.from + 1 }
  }

  /** Moves the cursor to a position and shows it. */
  goTo(position: number): void {
    const anchor = Math.min(position, this.#view.state.doc.length)
    this.#view.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
    })
    this.#view.focus()
  }

  /** Sets the syntax highlighting by a file name, or by the program that the first line names. */
  async setName(name: string): Promise<void> {
    const { languageOf } = await import('./languages.ts')
    const language = await languageOf(name, this.#view.state.doc.line(1).text)?.()
    this.#view.dispatch({ effects: this.#language.reconfigure(language ?? []) })
  }

  /** Opens the search panel; its code is loaded on first use. */
  async find(): Promise<void> {
    const { openSearchPanel, searching } = await import('./editor-search.ts')
    if (!this.#view.dom.isConnected) return
    this.#view.dispatch({ effects: this.#search.reconfigure(searching) })
    openSearchPanel(this.#view)
  }

  destroy(): void {
    this.#view.destroy()
  }
}
