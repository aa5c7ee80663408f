import { setFlagsFromString } from 'node:v8'

// Each verb makes much that is needed once: where the young space grows with it, a command takes twice the memory. Options
// of Node would say the same, but there are many ways to start one.
setFlagsFromString('--semi-space-growth-factor=1')
