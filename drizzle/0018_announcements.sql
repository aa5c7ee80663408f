CREATE TABLE "announcement_dismissals" (
	"user_id" integer NOT NULL,
	"announcement_id" integer NOT NULL,
	CONSTRAINT "announcement_dismissals_user_id_announcement_id_pk" PRIMARY KEY("user_id","announcement_id")
);
--> statement-breakpoint
CREATE TABLE "announcement_location" (
	"announcement_id" integer NOT NULL,
	"location_id" integer NOT NULL,
	CONSTRAINT "announcement_location_announcement_id_location_id_pk" PRIMARY KEY("announcement_id","location_id")
);
--> statement-breakpoint
CREATE TABLE "announcement_node" (
	"announcement_id" integer NOT NULL,
	"node_id" integer NOT NULL,
	CONSTRAINT "announcement_node_announcement_id_node_id_pk" PRIMARY KEY("announcement_id","node_id")
);
--> statement-breakpoint
CREATE TABLE "announcements" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "announcements_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"body" text DEFAULT '' NOT NULL,
	"level" text DEFAULT 'info' NOT NULL,
	"audience" text DEFAULT 'everyone' NOT NULL,
	"starts_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ends_at" timestamp (3) with time zone,
	"author_id" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "announcements_title_length" CHECK (length("announcements"."title") between 1 and 120),
	CONSTRAINT "announcements_level" CHECK ("announcements"."level" in ('info', 'warning', 'maintenance')),
	CONSTRAINT "announcements_audience" CHECK ("announcements"."audience" in ('everyone', 'servers')),
	CONSTRAINT "announcements_times" CHECK ("announcements"."ends_at" > "announcements"."starts_at")
);
--> statement-breakpoint
ALTER TABLE "announcement_dismissals" ADD CONSTRAINT "announcement_dismissals_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcement_dismissals" ADD CONSTRAINT "announcement_dismissals_announcement_id_announcements_id_fk" FOREIGN KEY ("announcement_id") REFERENCES "public"."announcements"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcement_location" ADD CONSTRAINT "announcement_location_announcement_id_announcements_id_fk" FOREIGN KEY ("announcement_id") REFERENCES "public"."announcements"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcement_location" ADD CONSTRAINT "announcement_location_location_id_locations_id_fk" FOREIGN KEY ("location_id") REFERENCES "public"."locations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcement_node" ADD CONSTRAINT "announcement_node_announcement_id_announcements_id_fk" FOREIGN KEY ("announcement_id") REFERENCES "public"."announcements"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcement_node" ADD CONSTRAINT "announcement_node_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcements" ADD CONSTRAINT "announcements_author_id_users_id_fk" FOREIGN KEY ("author_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "announcement_dismissals_announcement_id_index" ON "announcement_dismissals" USING btree ("announcement_id");--> statement-breakpoint
CREATE INDEX "announcement_location_location_id_index" ON "announcement_location" USING btree ("location_id");--> statement-breakpoint
CREATE INDEX "announcement_node_node_id_index" ON "announcement_node" USING btree ("node_id");--> statement-breakpoint
CREATE INDEX "announcements_starts_at_index" ON "announcements" USING btree ("starts_at");--> statement-breakpoint
CREATE INDEX "announcements_author_id_index" ON "announcements" USING btree ("author_id");