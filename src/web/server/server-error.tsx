import { Link, useRouter } from '@tanstack/react-router'
import { useTranslation } from '../app/use-translation.ts'
import { Lock, SearchX } from 'lucide-react'
import { asRequestError } from '../api/error.ts'
import { RouteError } from '../app/route-states.tsx'
import { buttonStyle } from '../components/button.tsx'
import { EmptyState } from '../components/states.tsx'
import { usePageTitle } from '../app/page-title.ts'

/** Shows why a server cannot be shown: it does not exist, is not accessible, or failed to load. */
export function ServerError(props: { error: unknown; reset: () => void }) {
  const { t } = useTranslation('server')
  const router = useRouter()
  const requestError = asRequestError(props.error)
  const isMissing = requestError?.status === 404
  const isDenied = requestError?.status === 403
  const title = isMissing ? t('missing.title') : isDenied ? t('denied.title') : t('strings:error.title')
  usePageTitle(title)
  if (!isMissing && !isDenied) return <RouteError {...props} />
  const retry = () => {
    props.reset()
    void router.invalidate()
  }
  return (
    <main id="content" tabIndex={-1} className="mx-auto w-full max-w-3xl p-4 outline-none">
      <h1 className="sr-only">{title}</h1>
      <EmptyState
        icon={isMissing ? SearchX : Lock}
        title={title}
        text={isMissing ? t('missing.text') : requestError.message || t('denied.text')}
      >
        <Link to="/" className={buttonStyle('primary')}>
          {t('strings:word.servers')}
        </Link>
        <button type="button" onClick={retry} className={buttonStyle()}>
          {t('strings:action.retry')}
        </button>
        {requestError.requestId && (
          <p className="w-full text-xs text-muted">
            {t('strings:failure.request', { request: requestError.requestId })}
          </p>
        )}
      </EmptyState>
    </main>
  )
}
