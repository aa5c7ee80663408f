import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const frame = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono, ui-monospace, monospace)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--canvas)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--raised) 55%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--raised)', color: 'var(--ink)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--brand) 28%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--brand-soft)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--brand-soft)', outlineColor: 'var(--brand)' },
  '.cm-specialChar': { color: 'var(--bad)' },
})

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  {
    tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword],
    color: 'var(--bad)',
  },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--warn)' },
  {
    tag: [
      tags.propertyName,
      tags.definition(tags.propertyName),
      tags.attributeName,
      tags.definition(tags.variableName),
    ],
    color: 'var(--info)',
  },
  { tag: [tags.tagName, tags.typeName, tags.className, tags.heading], color: 'var(--brand-text)' },
  { tag: [tags.meta, tags.processingInstruction], color: 'var(--muted)' },
  { tag: tags.invalid, color: 'var(--bad)', textDecoration: 'underline' },
])

/** The editor theme, in the colours of the panel. */
export const editorTheme = [frame, syntaxHighlighting(colours)]
