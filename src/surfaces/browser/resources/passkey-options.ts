import * as z from 'zod'

/** The options of `navigator.credentials.create` as JSON. Source: W3C Web Authentication Level 3. */
export const CreationOptionsAnswer = () =>
  z.looseObject({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
    timeout: z.int(),
    attestation: z.literal('none'),
    excludeCredentials: z.array(z.looseObject({ id: z.string(), type: z.literal('public-key') })),
    authenticatorSelection: z.looseObject({
      residentKey: z.literal('required'),
      userVerification: z.literal('required'),
    }),
  })

/** The options of `navigator.credentials.get` as JSON. Source: W3C Web Authentication Level 3. */
export const RequestOptionsAnswer = () =>
  z.looseObject({
    challenge: z.string(),
    rpId: z.string(),
    timeout: z.int(),
    userVerification: z.literal('required'),
  })
