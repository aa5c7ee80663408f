import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from '../app/use-translation.ts'
import { accountQuery, cancelEmailChange, type EmailAddress, sendEmailLink } from '../api/account.ts'
import { Banner } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { FormError } from '../components/field.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { toast } from '../components/toast.tsx'

/** Shows which address waits for its mailed link, with actions to send the link again and to cancel the change. */
export function EmailStatus({ address }: { address: EmailAddress }) {
  const { t } = useTranslation('account')
  if (address.pending_email !== null) {
    return (
      <Banner tone="info" title={t('email.pending')}>
        <PrivateText text={address.pending_email} className="font-medium wrap-anywhere" />
        <p>{t('email.pending_text')}</p>
        <Actions canCancel />
      </Banner>
    )
  }
  if (address.status === 'verified') return null
  if (address.status === 'released') return <Banner tone="bad" title={t('email.released')} />
  return (
    <Banner tone="warn" title={t('email.unverified')}>
      <p>{t('email.unverified_text')}</p>
      <Actions />
    </Banner>
  )
}

function Actions({ canCancel = false }: { canCancel?: boolean }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const sending = useMutation({
    mutationFn: sendEmailLink,
    onSuccess: () => toast(t('email.resent')),
  })
  const cancelling = useMutation({
    mutationFn: cancelEmailChange,
    onSuccess: () => {
      toast(t('email.cancelled'))
      return queries.invalidateQueries({ queryKey: accountQuery.queryKey })
    },
  })
  return (
    <div className="mt-2 flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        <Button busy={sending.isPending} onClick={() => sending.mutate()}>
          {t('email.resend')}
        </Button>
        {canCancel && (
          <Button busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
            {t('email.cancel')}
          </Button>
        )}
      </div>
      <FormError error={sending.error ?? cancelling.error} />
    </div>
  )
}
