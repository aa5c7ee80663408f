import { useTranslation } from '../../app/use-translation.ts'
import { Card } from '../../components/card.tsx'
import { ReinstallButton } from '../reinstall-button.tsx'

/** Offers to run the installer of the server again. */
export function ReinstallCard() {
  const { t } = useTranslation('settings')
  return (
    <Card title={t('reinstall')} text={t('reinstall_text')}>
      <ReinstallButton label={t('reinstall')} />
    </Card>
  )
}
