import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Lock, SearchX } from 'lucide-react'
import { asRequestError } from '../api/error.ts'
import { RouteError } from '../app/route-states.tsx'
import { buttonStyle } from '../components/button.tsx'
import { EmptyState } from '../components/states.tsx'
import { usePageTitle } from '../app/page-title.ts'

/** Why a server is not shown: there is none, it may not be seen, or the answer did not come. */
export function ServerError(props: { error: unknown; reset: () => void }) {
  const { t } = useTranslation('server')
  const router = useRouter()
  const refusal = asRequestError(props.error)
  const isMissing = refusal?.status === 404
  const isDenied = refusal?.status === 403
  const title = isMissing ? t('missing.title') : isDenied ? t('denied.title') : t('strings:error.title')
  usePageTitle(title)
  if (!isMissing && !isDenied) return <RouteError {...props} />
  const again = () => {
    props.reset()
    void router.invalidate()
  }
  return (
    <main id="content" tabIndex={-1} className="mx-auto w-full max-w-3xl p-4 outline-none">
      <h1 className="sr-only">{title}</h1>
      <EmptyState
        icon={isMissing ? SearchX : Lock}
        title={title}
        text={isMissing ? t('missing.text') : refusal.message || t('denied.text')}
      >
        <Link to="/" className={buttonStyle('primary')}>
          {t('strings:word.servers')}
        </Link>
        <button type="button" onClick={again} className={buttonStyle()}>
          {t('strings:action.retry')}
        </button>
        {refusal.requestId && (
          <p className="w-full text-xs text-muted">
            {t('strings:failure.request', { request: refusal.requestId })}
          </p>
        )}
      </EmptyState>
    </main>
  )
}
