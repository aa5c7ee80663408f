import { useQueryClient } from '@tanstack/react-query'
import { Link2, Unlink } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { beginLink, type Identity, type Security, securityQuery, unlink } from '../api/security.ts'
import { Button, IconButton } from '../components/button.tsx'
import { Card, RowList } from '../components/card.tsx'
import { PrivateText } from '../components/private-text.tsx'
import { toast } from '../components/toast.tsx'
import { TextWithTime } from './text-with-time.tsx'
import { ConfirmPasswordDialog } from './confirm-password-dialog.tsx'

type Provider = Security['providers'][number]

/** Shows the linked accounts of sign-in providers; nothing when no provider is configured. */
export function Identities({ security }: { security: Security }) {
  const { t } = useTranslation('account')
  const { providers, identities } = security
  const [linking, setLinking] = useState<Provider | null>(null)
  if (providers.length === 0 && identities.length === 0) return null
  return (
    <Card title={t('identities.title')} text={t('identities.text')}>
      <div className="flex flex-col gap-4">
        <LinkedIdentities security={security} />
        <div className="flex flex-wrap gap-2">
          {providers.map((provider) => (
            <Button key={provider.id} icon={Link2} onClick={() => setLinking(provider)}>
              {t('identities.link', { provider: provider.name })}
            </Button>
          ))}
        </div>
      </div>
      {linking && (
        <ConfirmPasswordDialog
          onClose={() => setLinking(null)}
          title={t('identities.link', { provider: linking.name })}
          text={t('identities.link_text', { provider: linking.name })}
          action={t('identities.link', { provider: linking.name })}
          onSubmit={(password) => beginLink(linking.id, password)}
          onDone={({ redirect }) => location.assign(redirect)}
        />
      )}
    </Card>
  )
}

function LinkedIdentities({ security: { providers, identities } }: { security: Security }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const [removing, setRemoving] = useState<Identity | null>(null)
  const nameOf = ({ provider }: Identity) => providers.find(({ id }) => id === provider)?.name ?? provider
  if (identities.length === 0) return <p className="text-sm text-muted">{t('identities.empty')}</p>
  const unlinked = (identity: Identity) => {
    toast(t('identities.unlinked', { provider: nameOf(identity) }))
    setRemoving(null)
    void queries.invalidateQueries({ queryKey: securityQuery.queryKey })
  }
  return (
    <>
      <RowList label={t('identities.title')}>
        {identities.map((identity) => (
          <li key={identity.id} className="flex items-center gap-3 px-4 py-3">
            <div className="min-w-0 flex-1 text-sm">
              <p className="font-medium wrap-anywhere">
                {nameOf(identity)} · <PrivateText text={identity.display_name} />
              </p>
              <p className="text-muted">
                {identity.last_used_at ? (
                  <TextWithTime text="identities.used" at={identity.last_used_at} />
                ) : (
                  t('identities.never_used')
                )}
              </p>
            </div>
            <IconButton
              icon={Unlink}
              label={t('identities.unlink', { provider: nameOf(identity) })}
              onClick={() => setRemoving(identity)}
            />
          </li>
        ))}
      </RowList>
      {removing && (
        <ConfirmPasswordDialog
          onClose={() => setRemoving(null)}
          title={t('identities.unlink', { provider: nameOf(removing) })}
          text={t('identities.unlink_text', { name: nameOf(removing) })}
          action={t('identities.unlink', { provider: nameOf(removing) })}
          danger
          onSubmit={(password) => unlink(removing.id, password)}
          onDone={() => unlinked(removing)}
        />
      )}
    </>
  )
}
