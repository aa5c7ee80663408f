import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'

/** What each cause means, for administrators. */
export const causeMeanings: Record<HeartbeatCause, string> = {
  dns: 'The host name of the node has no address.',
  refused: 'Nothing listens on the port of the daemon.',
  no_route: 'No way leads to the address of the node.',
  timeout: 'The node did not answer in time.',
  reset: 'The connection broke off before an answer.',
  certificate: 'The certificate of the node is not valid for its name.',
  tls: 'The port of the daemon does not speak TLS as the panel expects.',
  credential: 'The daemon does not accept the token of the panel.',
  answer: 'The answer is not one of Wings.',
  failed: 'The daemon answered with an error.',
  unreachable: 'The node could not be reached.',
}
