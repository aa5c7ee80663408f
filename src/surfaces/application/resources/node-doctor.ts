import * as z from 'zod'
import { doctorChecks, findingCodes } from '../../../domain/nodes/doctor-findings.ts'
import type { Diagnosis } from '../../../domain/nodes/doctor.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** What is wrong with a node, as the panel sees it. */
export const NodeDoctorResource = resource(
  'node_doctor',
  () =>
    z.object({
      node_id: z.int(),
      checked_at: Timestamp(),
      is_healthy: z.boolean().describe('Whether no check failed'),
      addresses: z
        .array(z.string())
        .describe('Addresses of its host name; none where the panel cannot look them up'),
      checks: z.array(
        z.object({
          id: z.enum(doctorChecks),
          state: z.enum(['ok', 'warning', 'failed', 'skipped', 'unknown']),
          code: z.enum(findingCodes).describe('Stands for the meaning and the advice'),
          values: z.record(z.string(), z.union([z.string(), z.number()])).describe('What they name'),
          meaning: z.string(),
          advice: z.string().nullable(),
          url: z.url().nullable().describe('An address for the browser to try'),
        }),
      ),
    }),
  ({ nodeId, checkedAt, addresses, checks }: Diagnosis) => ({
    node_id: nodeId,
    checked_at: timestamp(checkedAt),
    is_healthy: checks.every(({ state }) => state !== 'failed'),
    addresses,
    checks,
  }),
)
