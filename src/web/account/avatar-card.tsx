import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, accountQuery, changeAvatar, removeAvatar } from '../api/account.ts'
import { site } from '../app/site.ts'
import { Avatar, ownPicture } from '../components/avatar.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { toast, toastError } from '../components/toast.tsx'
import { CropDialog } from './crop-dialog.tsx'

/** The account's own picture. */
export function AvatarCard({ account }: { account: Account }) {
  const { t } = useTranslation('account')
  const chooser = useRef<HTMLInputElement>(null)
  const [picture, setPicture] = useState<ImageBitmap | null>(null)
  const hasOwn = ownPicture(account.image) !== null
  const choose = async (file: File | undefined) => {
    if (!file) return
    try {
      setPicture(await createImageBitmap(file))
    } catch (error) {
      toastError(error, t('profile.avatar_unreadable'))
    }
  }
  return (
    <Card title={t('profile.avatar')} text={t('profile.avatar_text')}>
      <div className="flex flex-wrap items-center gap-5">
        <Avatar image={account.image} name={account.username} size="large" />
        <div className="flex flex-wrap gap-2">
          <input
            ref={chooser}
            type="file"
            accept="image/png,image/jpeg,image/webp"
            aria-label={t('profile.avatar_upload')}
            className="sr-only"
            tabIndex={-1}
            onChange={(event) => {
              void choose(event.target.files?.[0])
              event.target.value = ''
            }}
          />
          <Button icon={ImageUp} onClick={() => chooser.current?.click()}>
            {t(hasOwn ? 'profile.avatar_change' : 'profile.avatar_upload')}
          </Button>
          {hasOwn && <RemoveAvatar />}
        </div>
      </div>
      {picture && <SavePicture picture={picture} onClose={() => setPicture(null)} />}
    </Card>
  )
}

/** Keeps what the panel answers about the account; the menu shows the new picture at once. */
function useAccountChange(text: string, onDone: () => void) {
  const queries = useQueryClient()
  return (account: Account) => {
    queries.setQueryData(accountQuery.queryKey, account)
    if (site.user) site.user.gravatar = ownPicture(account.image) === null
    toast(text)
    onDone()
  }
}

function SavePicture({ picture, onClose }: { picture: ImageBitmap; onClose: () => void }) {
  const { t } = useTranslation('account')
  const onSuccess = useAccountChange(t('profile.avatar_saved'), onClose)
  const saving = useMutation({ mutationFn: changeAvatar, onSuccess })
  return (
    <CropDialog
      picture={picture}
      onClose={onClose}
      onCrop={(square) => saving.mutate(square)}
      busy={saving.isPending}
      error={saving.error}
    />
  )
}

function RemoveAvatar() {
  const { t } = useTranslation('account')
  const [isAsking, setAsking] = useState(false)
  const onSuccess = useAccountChange(t('profile.avatar_removed'), () => setAsking(false))
  const removing = useMutation({ mutationFn: removeAvatar, onSuccess })
  return (
    <>
      <Button icon={Trash2} onClick={() => setAsking(true)}>
        {t('profile.avatar_remove')}
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={t('profile.avatar_remove')}
        text={t('profile.avatar_remove_text')}
        action={t('strings:action.remove')}
        onConfirm={() => removing.mutate()}
        busy={removing.isPending}
        error={removing.error}
      />
    </>
  )
}
