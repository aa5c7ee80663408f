import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../app/use-translation.ts'
import { accountQuery, disableTwoFactor, regenerateTokens } from '../api/account.ts'
import { secondFactorRequirement } from '../app/second-factor-requirement.ts'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/card.tsx'
import { Loaded, Skeleton } from '../components/states.tsx'
import { toast } from '../components/toast.tsx'
import { ConfirmPasswordDialog } from './confirm-password-dialog.tsx'
import { RecoveryTokens } from './recovery-tokens.tsx'
import { TwoFactorSetup } from './two-factor-setup.tsx'

type Step = 'enable' | 'disable' | 'regenerate' | null

/** Turns two-factor authentication on and off, and renews the recovery tokens. */
export function TwoFactor() {
  const { t } = useTranslation('account')
  const account = useQuery(accountQuery)
  const [step, setStep] = useState<Step>(null)
  return (
    <Card title={t('two_factor.title')} text={t('two_factor.text')}>
      <Loaded query={account} skeleton={<Skeleton rows={1} className="h-9" />}>
        {({ '2fa_enabled': isOn }) => (
          <div className="flex flex-wrap items-center justify-between gap-3">
            <p className="flex items-center gap-2 text-sm">
              <Badge tone={isOn ? 'good' : 'warn'}>
                {t(isOn ? 'two_factor.state_on' : 'two_factor.state_off')}
              </Badge>
              {t(isOn ? 'two_factor.on' : 'two_factor.off')}
            </p>
            <div className="flex flex-wrap gap-2">
              {isOn ? (
                <>
                  <Button onClick={() => setStep('regenerate')}>{t('two_factor.tokens_new')}</Button>
                  <Button onClick={() => setStep('disable')}>{t('two_factor.disable')}</Button>
                </>
              ) : (
                <Button variant="primary" onClick={() => setStep('enable')}>
                  {t('two_factor.enable')}
                </Button>
              )}
            </div>
          </div>
        )}
      </Loaded>
      <StepDialogs step={step} onStep={setStep} />
    </Card>
  )
}

function StepDialogs({ step, onStep }: { step: Step; onStep: (step: Step) => void }) {
  const { t } = useTranslation('account')
  const queries = useQueryClient()
  const [tokens, setTokens] = useState<string[]>([])
  const close = () => onStep(null)
  const showTokens = (newTokens: string[]) => {
    setTokens(newTokens)
    close()
    secondFactorRequirement.clear()
    void queries.invalidateQueries()
  }
  const onDisabled = () => {
    toast(t('two_factor.off'))
    close()
    void queries.invalidateQueries({ queryKey: accountQuery.queryKey })
  }
  return (
    <>
      {step === 'enable' && <TwoFactorSetup onClose={close} onDone={showTokens} />}
      {step === 'disable' && (
        <ConfirmPasswordDialog
          onClose={close}
          title={t('two_factor.disable_title')}
          text={t('two_factor.disable_text')}
          action={t('two_factor.disable')}
          danger
          onSubmit={disableTwoFactor}
          onDone={onDisabled}
        />
      )}
      {step === 'regenerate' && (
        <ConfirmPasswordDialog
          onClose={close}
          title={t('two_factor.tokens_new')}
          text={t('two_factor.tokens_new_text')}
          action={t('strings:action.create')}
          onSubmit={regenerateTokens}
          onDone={showTokens}
        />
      )}
      {tokens.length > 0 && <RecoveryTokens tokens={tokens} onClose={() => setTokens([])} />}
    </>
  )
}
