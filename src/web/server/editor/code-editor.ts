import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { Compartment, EditorState, type Text } from '@codemirror/state'
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
import { languageOf } from './languages.ts'

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
  readonly #onSave: Options['onSave']
  #saved: Text
  #isDirty = false

  constructor(options: Options) {
    this.#onDirty = options.onDirty
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
      EditorView.updateListener.of(({ docChanged }) => docChanged && this.#updateDirty()),
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

  /** Sets the syntax highlighting by a file name. */
  async setName(name: string): Promise<void> {
    const language = await languageOf(name)?.()
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
