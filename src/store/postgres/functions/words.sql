-- States as people say them.

CREATE FUNCTION state_words() RETURNS text[] LANGUAGE sql IMMUTABLE
RETURN ARRAY['scheduled', 'ready', 'blocked', 'running', 'retry', 'done', 'dead', 'cancelled'];

CREATE FUNCTION state_word(state smallint) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (state_words())[state + 1];
