import { readEnv } from '../../platform/env.ts'
import { callOperation, type Command } from '../command.ts'
import type { ResetNode } from '../operations/node-reset-secret.ts'

/** `node:reset-secret` */
export const nodeResetSecret: Command = {
  synopsis: 'node:reset-secret NODE [--grace]',
  summary: "Replaces the secret of a node's daemon; the old one is refused at once.",
  help: `  NODE       id, uuid or name of the node
  --grace    accepts the old secret until the daemon uses the new one, for an hour at most

The panel sends the new configuration to the daemon. Wings uses the new secret for its own requests
after a restart. A daemon that the panel cannot reach needs the output of node:configure.`,
  options: { grace: { type: 'boolean' } },
  positionals: [1, 1],
  run: async (raw, args) => {
    const reset = await callOperation<ResetNode>(readEnv(raw), args, 'node:reset-secret', {
      node: args.positionals[0],
      grace: args.values.grace === true,
    })
    return { text: formatReset(reset), json: reset }
  },
}

const formatReset = ({ node, grace_until: graceUntil }: ResetNode) =>
  graceUntil === null
    ? `The secret of ${node.name} was replaced. The old one is refused: restart Wings now.`
    : `The secret of ${node.name} was replaced. The old one is accepted until ${graceUntil}: restart Wings before.`
