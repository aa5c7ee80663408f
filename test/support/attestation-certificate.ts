import { createPrivateKey } from 'node:crypto'

/**
 * Made by openssl for tests alone: the certificate of a maker of authenticators, which names an address for its
 * revocations, and the key that belongs to it.
 */
export const attestationCertificate = {
  key: createPrivateKey({
    key: Buffer.from(
      'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgv6sTch3TNqSnkUcrgHVH2vF9HQ1YJ00/DMg+z74cGN2hRANCAAQt' +
        '1CihPRaZ0EPHZPgEDrvFxXhLJ0UY5ThHFm01VJdMxnGmDTFIm3aT/kx6mxLPNYlgHAH2Uhm2Bo1hg/jSO76/',
      'base64',
    ),
    format: 'der',
    type: 'pkcs8',
  }),
  bytes: Buffer.from(
    'MIIB6jCCAZCgAwIBAgIBATAKBggqhkjOPQQDAjBRMQswCQYDVQQGEwJTRTEPMA0GA1UECgwGTm9ib2R5MSIwIAYDVQQLDBlBdXRo' +
      'ZW50aWNhdG9yIEF0dGVzdGF0aW9uMQ0wCwYDVQQDDARUZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjBRMQsw' +
      'CQYDVQQGEwJTRTEPMA0GA1UECgwGTm9ib2R5MSIwIAYDVQQLDBlBdXRoZW50aWNhdG9yIEF0dGVzdGF0aW9uMQ0wCwYDVQQDDARU' +
      'ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELdQooT0WmdBDx2T4BA67xcV4SydFGOU4RxZtNVSXTMZxpg0xSJt2k/5MepsS' +
      'zzWJYBwB9lIZtgaNYYP40ju+v6NXMFUwCQYDVR0TBAIwADApBgNVHR8EIjAgMB6gHKAahhhodHRwOi8vY3JsLnRlc3QvbGlzdC5j' +
      'cmwwHQYDVR0OBBYEFMu7Q15+NE32kaTGpL7cXa2i45O3MAoGCCqGSM49BAMCA0gAMEUCIFHQ2xtygY6zXanALwaLptu/Yr30e35M' +
      'vM7TijBW4drxAiEA9mXxtkjHT1W9e/sTLd9OZbHUgOhhvVhD5Mou8sPM3I4=',
    'base64',
  ),
}
