import { describe, expect, it } from 'vitest'
import { openCloudServices } from '../../src/platform/cloud-services.ts'
import { readEnv } from '../../src/platform/env.ts'
import { openMailer } from '../../src/platform/mail.ts'
import { openSmtp } from '../../src/platform/smtp.ts'
import { testEgress } from '../support/egress.ts'

const smtp = { MAIL_DRIVER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:2525' }
const cloud = {
  APP_URL: 'https://panel.test',
  APP_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
  DATABASE_URL: 'postgres://user@127.0.0.1:1/x',
  UPSTASH_REDIS_REST_URL: 'https://127.0.0.1:1',
  UPSTASH_REDIS_REST_TOKEN: 'x',
  QSTASH_TOKEN: 'token',
  QSTASH_CURRENT_SIGNING_KEY: 'x',
  QSTASH_NEXT_SIGNING_KEY: 'y',
}

describe('the environment of mail', () => {
  it.each([
    [{ MAIL_DRIVER: 'smtp' }, 'SMTP_URL'],
    [{ SMTP_URL: 'smtp://127.0.0.1' }, 'MAIL_DRIVER'],
    [{ MAIL_DRIVER: 'resend', SMTP_URL: 'smtp://127.0.0.1', MAIL_HTTP_TOKEN: 'x' }, 'MAIL_DRIVER'],
    [{ MAIL_DRIVER: 'smtp', SMTP_URL: 'http://127.0.0.1' }, 'SMTP_URL'],
    [{ MAIL_DRIVER: 'resend' }, 'MAIL_HTTP_TOKEN'],
    [{ MAIL_DRIVER: 'postmark' }, 'MAIL_HTTP_TOKEN'],
    [{ MAIL_HTTP_ENDPOINT: 'https://mail.test' }, 'MAIL_HTTP_TOKEN'],
    [{ MAIL_DRIVER: 'pigeon', MAIL_HTTP_TOKEN: 'x' }, 'MAIL_DRIVER'],
    [{ MAIL_FROM: 'Roost' }, 'MAIL_FROM'],
    [{ MAIL_FROM: 'Roost <a@b.test>, x@y.test' }, 'MAIL_FROM'],
    [{ MAIL_FROM: 'Roost\r\n <a@b.test>' }, 'MAIL_FROM'],
  ])('is refused with the name of what is at fault: %j', (raw, name) => {
    expect(() => readEnv(raw)).toThrow(new RegExp(`^The environment is invalid:\\n  ${name}: [^\\n]*$`))
  })

  it.each([
    [undefined, { name: 'Roost', address: 'panel@localhost' }],
    ['"My, Host" <a@b.test>', { name: 'My, Host', address: 'a@b.test' }],
    ['a@b.test', { name: '', address: 'a@b.test' }],
    ['<a@b.test>', { name: '', address: 'a@b.test' }],
  ])('reads the sender %j', (MAIL_FROM, expected) => {
    expect(readEnv({ MAIL_FROM }).MAIL_FROM).toEqual(expected)
  })

  it('opens what it names, or nothing', () => {
    expect(openMailer(readEnv({}), testEgress, openSmtp)).toBeNull()
    expect(openMailer(readEnv({ MAIL_HTTP_TOKEN: 'x' }), testEgress, openSmtp)).not.toBeNull()
    expect(openMailer(readEnv(smtp), testEgress, openSmtp)).not.toBeNull()
    expect(openMailer(readEnv(smtp), testEgress, null)).toBeNull()
  })

  it('takes no server on Workers, and says so at once', async () => {
    const opening = openCloudServices(readEnv({ ...cloud, ...smtp }), 'workers', () => testEgress)
    await expect(opening).rejects.toThrow('MAIL_DRIVER: smtp is not available on Workers')
  })
})
