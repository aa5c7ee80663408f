import { setFlagsFromString } from 'node:v8'

// A verb makes much that is needed once, and reads rows by the million: where the heap grows with that before it is cleared, a
// command takes twice the memory. Options of Node would say the same, but there are many ways to start one.
setFlagsFromString('--semi-space-growth-factor=1')
setFlagsFromString('--heap-growing-percent=20')
