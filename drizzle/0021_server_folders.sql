CREATE TABLE "server_folders" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "server_folders_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"user_id" integer NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "server_folders_name_length" CHECK (length("server_folders"."name") between 1 and 50)
);
--> statement-breakpoint
CREATE TABLE "server_placements" (
	"user_id" integer NOT NULL,
	"server_id" integer NOT NULL,
	"is_favourite" boolean DEFAULT false NOT NULL,
	"folder_id" integer,
	CONSTRAINT "server_placements_user_id_server_id_pk" PRIMARY KEY("user_id","server_id")
);
--> statement-breakpoint
ALTER TABLE "game_queries" ADD COLUMN "version" text;--> statement-breakpoint
ALTER TABLE "game_queries" ADD COLUMN "player_names" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "server_folders" ADD CONSTRAINT "server_folders_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_placements" ADD CONSTRAINT "server_placements_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_placements" ADD CONSTRAINT "server_placements_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_placements" ADD CONSTRAINT "server_placements_folder_id_server_folders_id_fk" FOREIGN KEY ("folder_id") REFERENCES "public"."server_folders"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "server_folders_name_unique" ON "server_folders" USING btree ("user_id",lower("name"));--> statement-breakpoint
CREATE INDEX "server_placements_server_id_index" ON "server_placements" USING btree ("server_id");--> statement-breakpoint
CREATE INDEX "server_placements_folder_id_index" ON "server_placements" USING btree ("folder_id");