CREATE TABLE "command_snippets" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "command_snippets_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"server_id" integer,
	"name" text NOT NULL,
	"command" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "eggs" ADD COLUMN "command_snippets" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "server_samples" ADD COLUMN "players" integer[];--> statement-breakpoint
ALTER TABLE "command_snippets" ADD CONSTRAINT "command_snippets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "command_snippets" ADD CONSTRAINT "command_snippets_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "command_snippets_user_id_index" ON "command_snippets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "command_snippets_server_id_index" ON "command_snippets" USING btree ("server_id");