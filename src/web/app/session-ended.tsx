import { useEffect, useState } from 'react'
import { useTranslation } from './use-translation.ts'
import { sessionEnded } from '../api/request.ts'
import { buttonStyle } from '../components/button.tsx'
import { forgetAccount } from '../offline/offline.ts'
import { Dialog } from '../components/dialog.tsx'

/** Shows that the session has ended, with a link to sign in. The page stays readable behind the dialog. */
export function SessionEnded() {
  const { t } = useTranslation('server')
  const [ended, setEnded] = useState(false)
  useEffect(() => {
    const listener = () => {
      setEnded(true)
      void forgetAccount()
    }
    sessionEnded.addEventListener('ended', listener)
    return () => sessionEnded.removeEventListener('ended', listener)
  }, [])
  return (
    <Dialog
      open={ended}
      onOpenChange={setEnded}
      title={t('session.ended')}
      text={t('session.ended_text')}
      width="small"
      actions={
        <a
          href={`/auth/login?intended=${encodeURIComponent(location.pathname + location.search)}`}
          className={buttonStyle('primary')}
        >
          {t('session.sign_in')}
        </a>
      }
    />
  )
}
