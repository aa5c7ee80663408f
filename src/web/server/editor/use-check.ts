import { type RefObject, useCallback, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { toastError } from '../../components/toast.tsx'
import { type Checker, checkerOf, type Problem } from './checks.ts'
import type { CodeEditor } from './code-editor.ts'

/** What a check has found. `unsafe` when formatting would have lost something. */
export type CheckResult =
  | { kind: 'valid' | 'formatted' | 'unchanged' | 'unsafe' | 'large' }
  | ({ kind: 'problem'; place: { line: number; column: number } | null } & Problem)

/** Longer texts would block the page for seconds. */
const maxCheckedLength = 1_000_000

/**
 * Checks and formats the text of an editor. The code is loaded with the first check. After saving only a problem is
 * shown.
 */
export function useCheck(editor: RefObject<CodeEditor | null>, name: string) {
  const { t } = useTranslation('files')
  const [result, setResult] = useState<CheckResult | null>(null)
  const load = checkerOf(name)
  const run = async (reason: 'check' | 'format' | 'save') => {
    try {
      const checker = await load?.()
      if (!checker || !editor.current) return
      const found = checkText(editor.current, checker, reason === 'format')
      setResult(reason === 'save' && found.kind !== 'problem' ? null : found)
    } catch (error) {
      if (reason !== 'save') toastError(error, t('check.not_loaded'))
    }
  }
  return { canCheck: load !== null, result, run, clear: useCallback(() => setResult(null), []) }
}

function checkText(editor: CodeEditor, checker: Checker, isFormatted: boolean): CheckResult {
  const { text } = editor
  if (text.length > maxCheckedLength) return { kind: 'large' }
  const problem = checker.findProblem(text)
  if (problem) {
    const place = problem.position === null ? null : editor.placeOf(problem.position)
    return { kind: 'problem', place, ...problem }
  }
  if (!isFormatted) return { kind: 'valid' }
  const formatted = checker.format(text)
  if (formatted === null) return { kind: 'unsafe' }
  if (formatted === text) return { kind: 'unchanged' }
  editor.setText(formatted)
  return { kind: 'formatted' }
}
