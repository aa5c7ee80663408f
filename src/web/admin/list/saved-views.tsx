import { Bookmark, BookmarkPlus, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from '../../app/use-translation.ts'
import { site } from '../../app/site.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { type ListSearch } from './list-search.ts'

/** What of a list a view keeps. */
type View = { name: string; search: Omit<ListSearch, 'page'> }
const maxViews = 30

const isSame = (one: View['search'], { page: _page, ...other }: ListSearch) =>
  JSON.stringify(one) === JSON.stringify(other)

/** The views of a list that the administrator named, kept on this device. A view is what stands in the address. */
export function SavedViews({
  list,
  search,
  onChange,
}: {
  list: string
  search: ListSearch
  onChange: (change: Partial<ListSearch>) => void
}) {
  const { t } = useTranslation('admin')
  const { views, store } = useViews(list)
  const [isNaming, setNaming] = useState(false)
  const current = views.find((view) => isSame(view.search, search))
  return (
    <>
      <Menu trigger={<IconButton icon={Bookmark} label={t('list.views')} variant="plain" />}>
        {views.map((view) => (
          <MenuItem key={view.name} icon={Bookmark} onSelect={() => onChange(view.search)}>
            <span className={view === current ? 'font-semibold text-brand-text' : ''}>{view.name}</span>
          </MenuItem>
        ))}
        {views.length > 0 && <MenuSeparator />}
        {current ? (
          <MenuItem icon={Trash2} danger onSelect={() => store(views.filter((view) => view !== current))}>
            {t('list.delete', { name: current.name })}
          </MenuItem>
        ) : (
          <MenuItem icon={BookmarkPlus} disabled={views.length >= maxViews} onSelect={() => setNaming(true)}>
            {t('list.save_view')}
          </MenuItem>
        )}
      </Menu>
      <NameDialog
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onName={(name) => {
          const { page: _page, ...kept } = search
          store([...views.filter((view) => view.name !== name), { name, search: kept }])
        }}
      />
    </>
  )
}

/** Keeps the views of a list in local storage, for each account its own. */
function useViews(list: string): { views: View[]; store: (views: View[]) => void } {
  const key = `roost.views.${list}.${site.user?.uuid ?? ''}`
  const [views, setViews] = useState(() => readViews(localStorage.getItem(key)))
  const store = (next: View[]) => {
    localStorage.setItem(key, JSON.stringify(next))
    setViews(next)
  }
  return { views, store }
}

/** Reads stored views; what another version stored is no view. */
function readViews(text: string | null): View[] {
  try {
    const stored: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(stored)
      ? stored.filter((view) => typeof view?.name === 'string' && view.search?.filters)
      : []
  } catch {
    return []
  }
}

function NameDialog({
  isOpen,
  onClose,
  onName,
}: {
  isOpen: boolean
  onClose: () => void
  onName: (name: string) => void
}) {
  const { t } = useTranslation('admin')
  const [name, setName] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    onName(name.trim())
    setName('')
    onClose()
  }
  return (
    <Dialog open={isOpen} onOpenChange={onClose} title={t('list.save_view')} text={t('list.save_view_text')}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={t('field.name')}
          maxLength={60}
          value={name}
          onChange={({ target }) => setName(target.value)}
          autoComplete="off"
        />
        <div className="flex justify-end">
          <Button type="submit" variant="primary" disabled={name.trim() === ''}>
            {t('strings:action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
