import { useEffect, useRef } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { CodeEditor, type Content } from './code-editor.ts'
import type { TextFile } from './text-file.ts'

/** Texts of the editor's own panels, by the names CodeMirror uses. */
const phrases = {
  Find: 'find',
  Replace: 'replace_with',
  next: 'next',
  previous: 'previous',
  all: 'all',
  'match case': 'match_case',
  'by word': 'by_word',
  regexp: 'regexp',
  replace: 'replace',
  'replace all': 'replace_all',
  close: 'close',
  'current match': 'current_match',
  'on line': 'on_line',
  'replaced match on line $': 'replaced_on_line',
  'replaced $ matches': 'replaced',
  'Go to line': 'go_to_line',
  go: 'go',
  'Control character': 'control_character',
}

type Options = {
  file: TextFile
  name: string
  isReadOnly: boolean
  isWrapped: boolean
  /** Called with the editor, and with null when it is gone. */
  onEditor: (editor: CodeEditor | null) => void
  onDirty: (isDirty: boolean) => void
  onChange: () => void
  onSave: (content: Content) => void
}

/** Creates an editor in the element of the returned ref. `file` is read once; later changes to it are ignored. */
export function useCodeEditor(options: Options) {
  const { t } = useTranslation('files')
  const editor = useRef<CodeEditor | null>(null)
  const container = useRef<HTMLDivElement>(null)
  const latest = useRef({ ...options, t })
  useEffect(() => {
    latest.current = { ...options, t }
  })
  const { name, isReadOnly, isWrapped } = options
  useEffect(() => {
    if (!container.current) return
    const { file, t } = latest.current
    const created = new CodeEditor({
      parent: container.current,
      text: file.text,
      lineBreak: file.lineBreak,
      isReadOnly: latest.current.isReadOnly,
      label: t('content'),
      phrases: Object.fromEntries(
        Object.entries(phrases).map(([phrase, key]) => [phrase, t(`phrase.${key}`)]),
      ),
      onDirty: (isDirty) => latest.current.onDirty(isDirty),
      onChange: () => latest.current.onChange(),
      onSave: (content) => latest.current.onSave(content),
    })
    editor.current = created
    latest.current.onEditor(created)
    return () => {
      editor.current = null
      latest.current.onEditor(null)
      created.destroy()
    }
  }, [])
  useEffect(() => {
    void editor.current?.setName(name).catch(() => undefined)
  }, [name])
  useEffect(() => editor.current?.setReadOnly(isReadOnly), [isReadOnly])
  useEffect(() => editor.current?.setWrap(isWrapped), [isWrapped])
  return container
}
