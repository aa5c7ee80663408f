import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' }
import { checksIn, contractionsIn } from './expansion.ts'

const files = readdirSync('drizzle')
  .filter((name) => name.endsWith('.sql'))
  .toSorted()

describe('migrations', () => {
  it('are those of the journal, in order of time', () => {
    expect(files).toEqual(journal.entries.map(({ tag }) => `${tag}.sql`))
    const times = journal.entries.map(({ when }) => when)
    expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other))
  })

  // Nothing ran before the first one.
  it.each(files.slice(1))('%s only adds, so that the version before runs on its schema', (name) => {
    const earlier = files.slice(0, files.indexOf(name)).map((file) => readFileSync(`drizzle/${file}`, 'utf8'))
    const checks = checksIn(earlier.join('\n'))
    expect(contractionsIn(readFileSync(`drizzle/${name}`, 'utf8'), checks)).toEqual([])
  })
})

describe('a check of an earlier migration', () => {
  const checks = checksIn(
    'CREATE TABLE "a" (\n"b" text,\nCONSTRAINT "c" CHECK (length("a"."b") between 1 and 60)\n);',
  )
  const found = (statements: string) => contractionsIn(statements, checks).length
  const replaced = (condition: string) =>
    found(`ALTER TABLE "a" DROP CONSTRAINT "c"; ALTER TABLE "a" ADD CONSTRAINT "c" CHECK (${condition})`)

  it('may go, or get a higher bound', () => {
    expect(found('ALTER TABLE "a" DROP CONSTRAINT "c"')).toBe(0)
    expect(replaced('length("a"."b") between 1 and 191')).toBe(0)
  })

  it('may not get a lower bound or another condition, nor be added beside itself', () => {
    expect(replaced('length("a"."b") between 1 and 50')).toBe(1)
    expect(replaced('length("a"."b") between 2 and 191')).toBe(1)
    expect(found('ALTER TABLE "a" ADD CONSTRAINT "c" CHECK (length("a"."b") between 1 and 191)')).toBe(1)
    expect(found('ALTER TABLE "a" DROP CONSTRAINT "other"')).toBe(1)
  })
})

describe('what is no addition', () => {
  it.each([
    'DROP TABLE "trash_items" CASCADE',
    'ALTER TABLE "users" DROP COLUMN "language"',
    'ALTER TABLE "users" RENAME COLUMN "language" TO "locale"',
    'ALTER TABLE "users" RENAME TO "people"',
    'ALTER TABLE "users" ALTER COLUMN "image" SET NOT NULL',
    'ALTER TABLE "users" ALTER COLUMN "id" SET DATA TYPE bigint',
    'ALTER TABLE "users" ALTER COLUMN "language" DROP DEFAULT',
    'ALTER TABLE "users" ADD COLUMN "rank" integer NOT NULL',
    'ALTER TABLE public.users ADD COLUMN rank integer NOT NULL',
    'ALTER TABLE "users" ADD CONSTRAINT "users_image_unique" UNIQUE("image")',
    'ALTER TABLE "users" ADD CONSTRAINT "short" CHECK (length("image") < 9)',
    'ALTER TABLE "users" DROP CONSTRAINT "users_email_unique"',
    'CREATE UNIQUE INDEX "i" ON "users" USING btree ("image")',
    'DROP INDEX "i"',
    'DROP TYPE "state"',
    "ALTER TYPE \"state\" RENAME VALUE 'a' TO 'b'",
    'ALTER TYPE "state" RENAME TO "status"',
    'TRUNCATE "jobs"',
    'DELETE FROM "jobs"',
    'UPDATE "users" SET "language" = \'en\'',
    "DO $$ begin execute 'drop table users' end $$",
    // A default that is not null fills old rows alike.
    'ALTER TABLE "a" ADD COLUMN "n" integer DEFAULT 0 NOT NULL; ALTER TABLE "a" ADD CONSTRAINT "u" UNIQUE("n")',
  ])('is found: %s', (statement) => {
    expect(
      contractionsIn(`CREATE TABLE "other" ("id" serial);--> statement-breakpoint\n${statement};`),
    ).toHaveLength(1)
  })

  it.each([
    'CREATE TABLE "a" ("id" serial, "b" text NOT NULL); ALTER TABLE "a" ADD CONSTRAINT "u" UNIQUE("b")',
    'CREATE TABLE "a" ("id" serial); CREATE UNIQUE INDEX "i" ON "a" USING btree ("id")',
    'ALTER TABLE "a" ADD COLUMN "b" integer; ALTER TABLE "a" ADD CONSTRAINT "f" FOREIGN KEY ("b") REFERENCES "c"("id")',
    'ALTER TABLE "a" ADD COLUMN "b" integer; CREATE UNIQUE INDEX "i" ON "a" USING btree ("b")',
    'ALTER TABLE "a" ADD COLUMN "b" jsonb DEFAULT \'{}\' NOT NULL',
    'ALTER TABLE "a" ALTER COLUMN "b" DROP NOT NULL',
    'ALTER TYPE "state" ADD VALUE \'new\'',
    '-- DROP TABLE "a"\nCREATE INDEX "i" ON "a" USING btree ("b")',
  ])('is not found in: %s', (statements) => {
    expect(contractionsIn(statements)).toEqual([])
  })
})
