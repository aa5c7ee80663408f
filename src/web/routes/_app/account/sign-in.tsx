import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../../app/use-translation.ts'
import { type Security, securityQuery } from '../../../api/security.ts'
import { Identities } from '../../../account/identities.tsx'
import { Passkeys } from '../../../account/passkeys.tsx'
import { Sessions } from '../../../account/sessions.tsx'
import { TwoFactor } from '../../../account/two-factor.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { Banner } from '../../../components/badge.tsx'
import { PageHeader } from '../../../components/card.tsx'
import { Loaded } from '../../../components/states.tsx'

export const Route = createFileRoute('/_app/account/sign-in')({ component: SignInMethods })

function SignInMethods() {
  const { t } = useTranslation('account')
  const security = useQuery(securityQuery)
  usePageTitle(t('nav.sign_in'))
  return (
    <>
      <PageHeader title={t('nav.sign_in')} />
      <div className="flex flex-col gap-4">
        {security.data && <LinkResult security={security.data} />}
        <TwoFactor />
        <Loaded query={security}>
          {(data) => (
            <>
              <Passkeys security={data} />
              <Identities security={data} />
            </>
          )}
        </Loaded>
        <Sessions />
      </div>
    </>
  )
}

/** Shows the result of linking an account. The panel reports it only once, so it is kept while the page is open. */
function LinkResult({ security }: { security: Security }) {
  const [{ notice, error }] = useState(security)
  const queries = useQueryClient()
  useEffect(() => {
    queries.setQueryData(
      securityQuery.queryKey,
      (security) => security && { ...security, notice: null, error: null },
    )
  }, [queries])
  return (
    <>
      {notice && <Banner tone="good" title={notice} />}
      {error && <Banner tone="bad" title={error} />}
    </>
  )
}
