import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorView, keymap } from '@codemirror/view'

export { openSearchPanel } from '@codemirror/search'

const panels = EditorView.theme({
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search, .cm-panel.cm-gotoLine': {
    padding: '0.5rem 2.75rem 0.5rem 0.75rem',
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '0.375rem',
  },
  '.cm-panel.cm-search br': { flexBasis: '100%', content: '""' },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '0.375rem',
    minHeight: '2.25rem',
    fontSize: '0.8125rem',
  },
  '.cm-textfield.cm-textfield': {
    minHeight: '2.25rem',
    padding: '0 0.75rem',
    margin: '0',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-control)',
    backgroundColor: 'var(--surface)',
    fontSize: '0.8125rem',
  },
  '.cm-button.cm-button': {
    minHeight: '2.25rem',
    padding: '0 0.75rem',
    margin: '0',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-control)',
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    fontSize: '0.8125rem',
  },
  '.cm-panel.cm-search [name=close]': {
    top: '0.5rem',
    right: '0.5rem',
    width: '2.25rem',
    height: '2.25rem',
    color: 'var(--ink)',
    fontSize: '1.25rem',
  },
})

/** Search and replace for the editor, with its shortcuts and panel. */
export const searching = [highlightSelectionMatches(), search({ top: true }), keymap.of(searchKeymap), panels]
