type Status = 400 | 403 | 404 | 411 | 412 | 416 | 500 | 501

/** A refusal in the words of S3. */
export class S3Error extends Error {
  readonly code: string
  readonly status: Status
  constructor(status: Status, code: string, message: string) {
    super(message)
    this.name = 'S3Error'
    this.code = code
    this.status = status
  }
}

/** What nobody here knows how to do, and would be wrong to leave out silently: 501. */
export const notImplemented = (what: string) =>
  new S3Error(501, 'NotImplemented', `This store does not know ${what}.`)
