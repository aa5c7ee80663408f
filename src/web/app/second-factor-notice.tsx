import { Link, useLocation } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/badge.tsx'
import { buttonStyle } from '../components/button.tsx'
import { useSecondFactorDemand } from './second-factor-demand.ts'

/** Says that a second factor must be set up before anything else, and leads there. */
export function SecondFactorNotice() {
  const isDemanded = useSecondFactorDemand()
  if (!isDemanded) return null
  return (
    <Suspense>
      <Notice />
    </Suspense>
  )
}

function Notice() {
  const { t } = useTranslation('account')
  const isThere = useLocation().pathname === '/account/sign-in'
  return (
    <div className="mx-auto w-full max-w-7xl px-4 pt-4">
      <Banner
        tone="bad"
        title={t('two_factor.required')}
        actions={
          isThere ? undefined : (
            <Link to="/account/sign-in" className={buttonStyle()}>
              {t('two_factor.required_link')}
            </Link>
          )
        }
      >
        {t('two_factor.required_text')}
      </Banner>
    </div>
  )
}
