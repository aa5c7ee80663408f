import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useTranslation } from '../../app/use-translation.ts'
import { adminQuery, adminSend } from '../../api/admin.ts'
import { rowsOf } from '../../api/resources.ts'
import { Card } from '../../components/card.tsx'
import { PrivateText } from '../../components/private-text.tsx'
import { Loaded } from '../../components/states.tsx'
import { AdminAction } from '../admin-action.tsx'
import { can } from '../levels.ts'
import type { List, User } from '../resources.ts'

/** What a user signs in with or is signed in by; each kind has other attributes of these. */
type Credential = Partial<
  Record<
    | 'id'
    | 'identifier'
    | 'ip'
    | 'user_agent'
    | 'description'
    | 'name'
    | 'fingerprint'
    | 'provider'
    | 'display_name',
    string | number
  >
>

const kinds = ['sessions', 'api-keys', 'ssh-keys', 'passkeys', 'identities'] as const

/** The sessions, keys and linked logins of a user; each can be ended. */
export const UserAccess = ({ user }: { user: User }) => (
  <div className="gap-4 *:mb-4 *:break-inside-avoid xl:columns-2">
    {kinds.map((kind) => (
      <Credentials key={kind} user={user} kind={kind} />
    ))}
  </div>
)

/** Returns the name of a credential, and what tells it from others. */
const textsOf = (credential: Credential) => ({
  name: String(
    credential.user_agent ??
      (credential.description || credential.name) ??
      credential.provider ??
      credential.identifier ??
      credential.id,
  ),
  detail: String(
    credential.ip ?? credential.fingerprint ?? credential.display_name ?? credential.identifier ?? '',
  ),
})

function Credentials({ user, kind }: { user: User; kind: (typeof kinds)[number] }) {
  const { t } = useTranslation('admin')
  const path = `/users/${user.id}/${kind}`
  const query = useQuery({ ...adminQuery<List<Credential>>(path), select: rowsOf })
  const title = t(`users.access_${kind}`)
  return (
    <Card title={title}>
      <Loaded query={query}>
        {(credentials) =>
          credentials.length === 0 ? (
            <p className="text-sm text-muted">{t('strings:word.none')}</p>
          ) : (
            <ul aria-label={title} className="divide-y divide-line">
              {credentials.map((credential) => (
                <CredentialRow
                  key={credential.identifier ?? credential.id}
                  path={path}
                  credential={credential}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function CredentialRow({ path, credential }: { path: string; credential: Credential }) {
  const { t } = useTranslation('admin')
  const { name, detail } = textsOf(credential)
  return (
    <li className="flex items-center gap-3 py-2 text-sm">
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{name}</p>
        {detail !== '' && detail !== name && (
          <PrivateText text={detail} className="text-xs wrap-anywhere text-muted" />
        )}
      </div>
      {can('users', 'write') && (
        <AdminAction
          icon={Trash2}
          isCompact
          label={t('users.end_access', { name })}
          run={() => adminSend('DELETE', `${path}/${credential.identifier ?? credential.id}`)}
          confirm={{ title: t('users.end_access', { name }), text: t('users.end_access_text') }}
        />
      )}
    </li>
  )
}
