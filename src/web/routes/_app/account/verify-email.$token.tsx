import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { useTranslation } from '../../../app/use-translation.ts'
import { accountQuery, verifyEmail } from '../../../api/account.ts'
import { asRequestError } from '../../../api/error.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { site } from '../../../app/site.ts'
import { Banner } from '../../../components/badge.tsx'
import { Button, buttonStyle } from '../../../components/button.tsx'
import { Card, PageHeader } from '../../../components/card.tsx'
import { FormError } from '../../../components/field.tsx'

export const Route = createFileRoute('/_app/account/verify-email/$token')({ component: VerifyEmail })

/** The page of a mailed link. It asks first: programs that scan mails open links too. */
function VerifyEmail() {
  const { t } = useTranslation('account')
  const { token } = Route.useParams()
  const queries = useQueryClient()
  const verifying = useMutation({
    mutationFn: () => verifyEmail(token),
    onSuccess: () => queries.invalidateQueries({ queryKey: accountQuery.queryKey }),
  })
  usePageTitle(t('email.verify_title'))
  const isInvalid = asRequestError(verifying.error)?.status === 400
  return (
    <>
      <PageHeader title={t('email.verify_title')} />
      <Card className="max-w-2xl">
        <div className="flex max-w-md flex-col gap-4 text-sm">
          {verifying.isSuccess ? (
            <Banner tone="good" title={t('email.verified')} />
          ) : (
            <p>{t('email.verify_text', { username: site.user?.username ?? '' })}</p>
          )}
          {isInvalid ? (
            <Banner tone="bad" title={t('email.invalid')} />
          ) : (
            <FormError error={verifying.error} />
          )}
          {verifying.isSuccess || isInvalid ? (
            <Link to="/account" className={`${buttonStyle()} self-start`}>
              {t('profile.title')}
            </Link>
          ) : (
            <Button
              variant="primary"
              busy={verifying.isPending}
              className="self-start"
              onClick={() => verifying.mutate()}
            >
              {t('email.verify')}
            </Button>
          )}
        </div>
      </Card>
    </>
  )
}
