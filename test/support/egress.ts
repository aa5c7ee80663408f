import { egressRule } from '../../src/adapters/egress.ts'
import { nodeEgress } from '../../src/platform/node-egress.ts'

/** What a panel may call unless its operator says otherwise. */
export const defaultRule = egressRule(['0.0.0.0/0', '::/0'])
export const testEgress = nodeEgress(defaultRule)
