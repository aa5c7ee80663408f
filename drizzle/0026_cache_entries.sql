CREATE UNLOGGED TABLE "cache_entries" (
	"key" text PRIMARY KEY NOT NULL,
	"value" text,
	"hits" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
) WITH (fillfactor = 50);
--> statement-breakpoint
CREATE INDEX "cache_entries_expires_at_index" ON "cache_entries" USING btree ("expires_at");
