/** A request that the store refuses; the message is the body of the response. */
export class RequestError extends Error {
  readonly status: 400 | 403 | 404 | 408 | 416
  constructor(status: RequestError['status'], message: string) {
    super(message)
    this.name = 'RequestError'
    this.status = status
  }
}
