import { Link, useLocation } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useTranslation } from './use-translation.ts'
import { Banner } from '../components/badge.tsx'
import { buttonStyle } from '../components/button.tsx'
import { useSecondFactorRequired } from './second-factor-requirement.ts'

/** Shows that two-factor authentication must be set up, with a link to do so. */
export function SecondFactorNotice() {
  const isRequired = useSecondFactorRequired()
  if (!isRequired) return null
  return (
    <Suspense>
      <Notice />
    </Suspense>
  )
}

function Notice() {
  const { t } = useTranslation('account')
  const isOnSignInPage = useLocation().pathname === '/account/sign-in'
  return (
    <div className="mx-auto w-full max-w-7xl px-4 pt-4">
      <Banner
        tone="bad"
        title={t('two_factor.required')}
        actions={
          isOnSignInPage ? undefined : (
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
