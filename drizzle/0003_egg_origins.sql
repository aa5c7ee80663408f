ALTER TABLE "eggs" ADD COLUMN "document_layout" json;--> statement-breakpoint
ALTER TABLE "eggs" ADD COLUMN "seeded_checksum" text;