import type { SendGet } from '../adapters/public-fetch.ts'

/** Sends a GET by `fetch`: a Worker cannot resolve names, and reaches only addresses of the public internet. */
export const workersSendGet: SendGet = (url, { signal }) =>
  fetch(url, {
    redirect: 'manual',
    signal,
    headers: { 'user-agent': 'Roost', accept: 'application/json, application/yaml, text/plain' },
  })
