CREATE UNLOGGED TABLE "panel_instances" (
	"id" text PRIMARY KEY NOT NULL,
	"machine" text NOT NULL,
	"keys" jsonb NOT NULL,
	"cache" text NOT NULL,
	"objects" text NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL
);
