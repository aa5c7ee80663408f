import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { changeMailChoice, type MailChoice, mailChoicesQuery } from '../api/notifications.ts'
import { Banner } from '../components/badge.tsx'
import { Card } from '../components/card.tsx'
import { Loaded } from '../components/states.tsx'
import { Switch } from '../components/switch.tsx'
import { toastError } from '../components/toast.tsx'

/** The switches that say about which kinds of notifications the user gets mails. Needs the texts `notifications`. */
export function MailChoicesCard() {
  const { t } = useTranslation('notifications')
  const choices = useQuery(mailChoicesQuery)
  const place = useRef<HTMLDivElement>(null)
  const isLoaded = choices.data !== undefined
  // The link in the bell leads here; what is above may grow until then.
  useEffect(() => {
    if (isLoaded && location.hash === '#notifications') place.current?.scrollIntoView({ block: 'start' })
  }, [isLoaded])
  return (
    <div id="notifications" ref={place} className="scroll-mt-18">
      <Card title={t('mail.title')} text={t('mail.text')}>
        <Loaded query={choices}>{(rows) => <Switches choices={rows} />}</Loaded>
      </Card>
    </div>
  )
}

function Switches({ choices }: { choices: MailChoice[] }) {
  const { t } = useTranslation('notifications')
  const hasNoService = choices.some(({ obstacle }) => obstacle === 'no_mail_service')
  return (
    <div className="flex flex-col gap-4">
      {hasNoService && (
        <Banner tone="warn" title={t('mail.no_mail_service')}>
          {t('mail.no_mail_service_text')}
        </Banner>
      )}
      <ul className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
        {choices.map((choice) => (
          <li key={choice.kind}>
            <ChoiceSwitch choice={choice} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function ChoiceSwitch({ choice: { kind, is_on: isOn, obstacle } }: { choice: MailChoice }) {
  const { t } = useTranslation('notifications')
  const queries = useQueryClient()
  const show = (next: boolean) =>
    queries.setQueryData(mailChoicesQuery.queryKey, (rows) =>
      rows?.map((row) => (row.kind === kind ? { ...row, is_on: next } : row)),
    )
  const changing = useMutation({
    mutationFn: (next: boolean) => changeMailChoice(kind, next),
    onMutate: show,
    onError: (error, next) => {
      show(!next)
      toastError(error, t('mail.failed'))
    },
  })
  return (
    <Switch
      label={t(`kind.${kind}`)}
      hint={obstacle === 'switched_off' ? t('mail.switched_off') : undefined}
      checked={isOn}
      disabled={changing.isPending || obstacle === 'switched_off'}
      onChange={(next) => changing.mutate(next)}
    />
  )
}
