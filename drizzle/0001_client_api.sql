ALTER TABLE "eggs" ADD COLUMN "query_game" text;--> statement-breakpoint
ALTER TABLE "trash_items" ADD COLUMN "held_until" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "activity_user_id_event_timestamp_id_index" ON "activity" USING btree ("user_id","event","timestamp","id");