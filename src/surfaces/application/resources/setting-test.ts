import * as z from 'zod'
import { foundCodes, settingTests, type TestReport } from '../../../domain/settings/tests.ts'
import { resource } from '../../../http/resource.ts'

/** The result of a test, step by step; steps after a failed one are left out. */
export const SettingTestResource = resource(
  'setting_test',
  () =>
    z.object({
      test: z.enum(settingTests),
      is_successful: z.boolean(),
      steps: z.array(
        z.object({
          name: z.string(),
          state: z.enum(['ok', 'failed']),
          detail: z.string(),
          code: z
            .enum(foundCodes)
            .nullable()
            .describe('Stands for the detail; null where it has the words of a service'),
          values: z.record(z.string(), z.union([z.string(), z.number()])).describe('What the detail names'),
        }),
      ),
    }),
  ({ test, steps }: TestReport) => ({
    test,
    is_successful: steps.every(({ state }) => state === 'ok'),
    steps,
  }),
)
