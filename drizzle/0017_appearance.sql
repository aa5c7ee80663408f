CREATE TABLE "logos" (
	"name" text PRIMARY KEY NOT NULL,
	"content" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "logos_length" CHECK (length("logos"."content") <= 400000)
);
--> statement-breakpoint
CREATE TABLE "setting_changes" (
	"key" text PRIMARY KEY NOT NULL,
	"changed_by" integer,
	"changed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "setting_changes" ADD CONSTRAINT "setting_changes_changed_by_users_id_fk" FOREIGN KEY ("changed_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;