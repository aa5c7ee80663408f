/** The feature by which an egg declares that it is written for this daemon, which has no containers. */
export const localRuntimeFeature = 'local_runtime'

/** What users read when they install or start a server with another egg. Spec: docs/nodes.md#the-development-daemon. */
export const otherRuntimeMessage = `This is a development daemon without containers: it runs only eggs with the feature ${localRuntimeFeature}, such as Demo and Node.js. Other eggs need a node with Wings.`
