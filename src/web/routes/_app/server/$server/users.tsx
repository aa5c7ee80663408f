import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../../../app/use-translation.ts'
import { permissionsQuery, type Subuser, subusersQuery } from '../../../../api/subusers.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { loadTexts } from '../../../../app/texts.ts'
import { Button } from '../../../../components/button.tsx'
import { PageHeader, RowList } from '../../../../components/card.tsx'
import { EmptyState, Loaded } from '../../../../components/states.tsx'
import { useServer } from '../../../../server/server-context.tsx'
import { isBlocked } from '../../../../server/server-state.ts'
import { SubuserDialog } from '../../../../server/users/subuser-dialog.tsx'
import { SubuserRow } from '../../../../server/users/subuser-row.tsx'

export const Route = createFileRoute('/_app/server/$server/users')({
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(subusersQuery(params.server))
    void context.queryClient.prefetchQuery(permissionsQuery)
    return loadTexts('users')
  },
  component: UsersPage,
})

function UsersPage() {
  const { t } = useTranslation('users')
  const { id, server, can } = useServer()
  const subusers = useQuery(subusersQuery(id))
  const [edited, edit] = useState<Subuser | 'new' | null>(null)
  usePageTitle(t('title'), server.name)
  const add = can('user.create') && (
    <Button variant="primary" icon={UserPlus} disabled={isBlocked(server)} onClick={() => edit('new')}>
      {t('add')}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t('title')}
        text={t('text')}
        actions={subusers.data && subusers.data.length > 0 && add}
      />
      <Loaded query={subusers}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={Users} title={t('empty')} text={t('empty_text')}>
              {add}
            </EmptyState>
          ) : (
            <RowList label={t('title')}>
              {rows.map((subuser) => (
                <SubuserRow key={subuser.uuid} subuser={subuser} onEdit={() => edit(subuser)} />
              ))}
            </RowList>
          )
        }
      </Loaded>
      {edited && <SubuserDialog subuser={edited === 'new' ? null : edited} onClose={() => edit(null)} />}
    </>
  )
}
