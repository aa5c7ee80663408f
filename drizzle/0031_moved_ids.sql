ALTER TABLE "databases" ADD COLUMN "hashid" text;--> statement-breakpoint
ALTER TABLE "passkeys" ADD COLUMN "user_handle" text;