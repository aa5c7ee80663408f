import { formatBytes, formatNumber, formatPercent } from '../../app/formats.ts'

/** Powers of two, as steps of a scale in bytes. */
const byteSteps = Array.from({ length: 50 }, (_, power) => 2 ** power)

/** How charts show each kind of value; `scaleMax` is the top of the scale while no value exceeds it. */
export const scales = {
  percent: { scaleMax: 10, format: (value: number) => formatPercent(value) },
  bytes: { scaleMax: 1024, steps: byteSteps, format: formatBytes },
  rate: { scaleMax: 1024, steps: byteSteps, format: (value: number) => `${formatBytes(value)}/s` },
  count: { scaleMax: 2, format: (value: number) => formatNumber(value, 1) },
}
