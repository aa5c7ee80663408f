import { openMoveInHost } from '../../src/cli/move-in-host/open-host.ts'
import { handleRpc } from '../../src/cli/operations.ts'
import { runNode } from '../../src/platform/node-main.ts'
import { surfaces } from '../../src/surfaces/all.ts'

await runNode(surfaces, handleRpc, openMoveInHost)
