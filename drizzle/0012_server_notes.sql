CREATE TABLE "server_notes" (
	"id" integer PRIMARY KEY NOT NULL,
	"notes" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "server_notes_length" CHECK (length("server_notes"."notes") <= 65535)
);
--> statement-breakpoint
ALTER TABLE "server_notes" ADD CONSTRAINT "server_notes_id_servers_id_fk" FOREIGN KEY ("id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;