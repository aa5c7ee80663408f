import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { IconButton } from './button.tsx'
import { toast } from './toast.tsx'

/** Copies a text to the clipboard and confirms it. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    toast(t('action.copied'))
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <IconButton
      icon={copied ? Check : Copy}
      label={label ?? t('action.copy')}
      onClick={() => void copy().catch(() => toast(t('clipboard.failed')))}
    />
  )
}
