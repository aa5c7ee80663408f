CREATE TABLE "roles" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "roles_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"acl" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"two_factor_required" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "roles_name_length" CHECK (length("roles"."name") between 1 and 60),
	CONSTRAINT "roles_description_length" CHECK (length("roles"."description") <= 191)
);
--> statement-breakpoint
ALTER TABLE "activity" ADD COLUMN "acted_for_id" integer;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "administrator_id" integer;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "administrator_session_id" text;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "role_id" integer;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "sign_in_suspended_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE UNIQUE INDEX "roles_name_index" ON "roles" USING btree (lower("name"));--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_administrator_id_users_id_fk" FOREIGN KEY ("administrator_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_administrator_session_id_sessions_id_fk" FOREIGN KEY ("administrator_session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE cascade;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_role_id_roles_id_fk" FOREIGN KEY ("role_id") REFERENCES "public"."roles"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sessions_administrator_index" ON "sessions" USING btree ("administrator_id") WHERE "sessions"."administrator_id" is not null;--> statement-breakpoint
CREATE INDEX "sessions_administrator_session_index" ON "sessions" USING btree ("administrator_session_id") WHERE "sessions"."administrator_session_id" is not null;--> statement-breakpoint
CREATE INDEX "users_role_index" ON "users" USING btree ("role_id") WHERE "users"."role_id" is not null;