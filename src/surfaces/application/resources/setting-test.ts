import * as z from 'zod'
import { settingTests, type TestReport } from '../../../domain/settings/tests.ts'
import { resource } from '../../../http/resource.ts'

/** The result of a test, step by step; steps after a failed one are left out. */
export const SettingTestResource = resource(
  'setting_test',
  () =>
    z.object({
      test: z.enum(settingTests),
      is_successful: z.boolean(),
      steps: z.array(z.object({ name: z.string(), state: z.enum(['ok', 'failed']), detail: z.string() })),
    }),
  ({ test, steps }: TestReport) => ({
    test,
    is_successful: steps.every(({ state }) => state === 'ok'),
    steps,
  }),
)
