ALTER TABLE "tasks" ADD COLUMN "keep_backups" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_keep_backups" CHECK ("tasks"."keep_backups" between 1 and 100);