-- Every call of a language model: what it was for, what it took and what it cost; never a text. And the sums of each day,
-- in the same transactions, because the caps are looked at before each call.

CREATE TABLE llm_call (
  id TEXT PRIMARY KEY, purpose TEXT NOT NULL, project_id TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
  outcome TEXT NOT NULL, input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, cache_read BIGINT NOT NULL,
  cache_write BIGINT NOT NULL, cost BIGINT NOT NULL, ms BIGINT NOT NULL, batch TEXT NOT NULL, created_at BIGINT NOT NULL,
  settled_at BIGINT
);
CREATE INDEX llm_call_made ON llm_call (created_at, provider, outcome);
CREATE INDEX llm_call_batch ON llm_call (batch) WHERE batch <> '';

CREATE TABLE llm_day (
  day BIGINT NOT NULL, project_id TEXT NOT NULL, purpose TEXT NOT NULL, cost BIGINT NOT NULL, tokens BIGINT NOT NULL,
  calls BIGINT NOT NULL, PRIMARY KEY (day, project_id, purpose)
);
