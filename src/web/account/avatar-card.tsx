import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { type Account, accountQuery, changeAvatar, removeAvatar } from '../api/account.ts'
import { site } from '../app/site.ts'
import { Avatar, avatarPath } from '../components/avatar.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { toast, toastError } from '../components/toast.tsx'
import { CropDialog } from './crop-dialog.tsx'

/** Shows the avatar of the account, and lets the user upload or remove one. */
export function AvatarCard({ account }: { account: Account }) {
  const { t } = useTranslation('account')
  const fileInput = useRef<HTMLInputElement>(null)
  const [picture, setPicture] = useState<ImageBitmap | null>(null)
  const hasAvatar = avatarPath(account.image) !== null
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
            ref={fileInput}
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
          <Button icon={ImageUp} onClick={() => fileInput.current?.click()}>
            {t(hasAvatar ? 'profile.avatar_change' : 'profile.avatar_upload')}
          </Button>
          {hasAvatar && <RemoveAvatar />}
        </div>
      </div>
      {picture && <SaveAvatar picture={picture} onClose={() => setPicture(null)} />}
    </Card>
  )
}

/** Returns a callback that stores the changed account in the cache, so that the menu shows the new avatar at once. */
function useAccountChange(text: string, onDone: () => void) {
  const queries = useQueryClient()
  return (account: Account) => {
    queries.setQueryData(accountQuery.queryKey, account)
    if (site.user) site.user.gravatar = avatarPath(account.image) === null
    toast(text)
    onDone()
  }
}

function SaveAvatar({ picture, onClose }: { picture: ImageBitmap; onClose: () => void }) {
  const { t } = useTranslation('account')
  const onSuccess = useAccountChange(t('profile.avatar_saved'), onClose)
  const saving = useMutation({ mutationFn: changeAvatar, onSuccess })
  return (
    <CropDialog
      picture={picture}
      onClose={onClose}
      onSave={(square) => saving.mutate(square)}
      busy={saving.isPending}
      error={saving.error}
    />
  )
}

function RemoveAvatar() {
  const { t } = useTranslation('account')
  const [isConfirming, setConfirming] = useState(false)
  const onSuccess = useAccountChange(t('profile.avatar_removed'), () => setConfirming(false))
  const removing = useMutation({ mutationFn: removeAvatar, onSuccess })
  return (
    <>
      <Button icon={Trash2} onClick={() => setConfirming(true)}>
        {t('profile.avatar_remove')}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
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
