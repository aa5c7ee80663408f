import * as z from 'zod'
import { issueSetupCode } from '../../domain/setup/code.ts'
import type { Panel } from '../../panel.ts'
import { OperationError } from '../faults.ts'

/** The input of `setup:code`: nothing. */
export const SetupCodeInput = () => z.object({})

/** Creates a set-up code. Throws when the panel has users. */
export async function createSetupCode(panel: Panel): Promise<{ code: string; url: string }> {
  const code = await issueSetupCode(panel)
  if (code === null) throw new OperationError('This panel is set up already.')
  return { code, url: `${panel.config.url}/auth/setup` }
}
