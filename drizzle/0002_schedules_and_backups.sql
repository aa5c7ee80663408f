ALTER TABLE "backups" ADD COLUMN "dispatched_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "backups" ADD COLUMN "restore_dispatched_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "backups" ADD COLUMN "step_id" integer;--> statement-breakpoint
ALTER TABLE "schedule_steps" ADD COLUMN "time_offset" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_step_id_schedule_steps_id_fk" FOREIGN KEY ("step_id") REFERENCES "public"."schedule_steps"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "jobs_dead_index" ON "jobs" USING btree ("finished_at") WHERE "jobs"."state" = 'dead';--> statement-breakpoint
CREATE INDEX "schedule_runs_finished_at_index" ON "schedule_runs" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "schedule_runs_running_index" ON "schedule_runs" USING btree ("started_at") WHERE "schedule_runs"."state" = 'running';--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_stepId_unique" UNIQUE("step_id");