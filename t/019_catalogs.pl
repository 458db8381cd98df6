# What is looked up in catalogs while other transactions change them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\nautovacuum = off\n");
create_slot($node, 's');

# --- a partition that is being detached -------------------------------------------

my @root = (format => 'wal2json', 'format-version' => 2, 'include-transaction' => 'off', 'partition-root' => 'on');
$node->safe_psql('postgres', q{
	CREATE SCHEMA one;
	CREATE TABLE one.root (id int) PARTITION BY LIST (id);
	CREATE TABLE leaf PARTITION OF one.root FOR VALUES IN (1);
});
my $reader = CppOutput::Faults::Session->new($node);
$reader->query('BEGIN; SELECT count(*) FROM one.root');
like(sql_error($node, 'SET lock_timeout = 1000; ALTER TABLE one.root DETACH PARTITION leaf CONCURRENTLY'),
	qr/lock timeout/, 'a detachment stops half way');
$reader->end;
$node->safe_psql('postgres', 'INSERT INTO leaf VALUES (1)');
is_deeply([ map { /"table":"(\w+)"/ } peek($node, 's', @root) ], ['leaf'], 'the partition has no root any more');
$node->safe_psql('postgres', 'ALTER TABLE one.root DETACH PARTITION leaf FINALIZE');
get($node, 's');

# --- schemas that are mentioned, of another table or a type ---------------------------

$node->safe_psql('postgres', q{
	CREATE TYPE one.mood AS ENUM ('ok');
	CREATE TABLE part PARTITION OF one.root DEFAULT;
	CREATE TABLE typed (m one.mood);
	INSERT INTO part VALUES (2);
	INSERT INTO typed VALUES ('ok');
	ALTER SCHEMA one RENAME TO two;
	INSERT INTO part VALUES (3);
	INSERT INTO typed VALUES ('ok');
});
is_deeply([ map { /"schema":"(\w+)","table":"root"/ } peek($node, 's', @root) ],
	[ 'one', 'two' ], 'the schema of a root');
is_deeply([ map { /"type":"(\w+)\.mood"/ } peek($node, 's', @root) ], [ 'one', 'two' ],
	"the schema of a type's name");
is_deeply([ map { /\[(\w+)\.mood\]/ } peek($node, 's', format => 'test_decoding') ],
	[ 'one', 'two' ], 'and in test_decoding');
get($node, 's');

# --- what a default mentions ---------------------------------------------------------

my @named = (format => 'wal2json', 'format-version' => 2, 'include-transaction' => 'off', 'include-default' => 'on');
$node->safe_psql('postgres', q{
	CREATE SCHEMA made;
	CREATE SEQUENCE made.numbers;
	CREATE FUNCTION made.filler(n bigint) RETURNS bigint LANGUAGE sql RETURN n;
	CREATE TYPE made.grade AS ENUM ('low');
	CREATE OPERATOR public.=== (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq);
	CREATE TABLE defaults (id bigint DEFAULT made.filler(nextval('made.numbers')), g text DEFAULT 'low'::made.grade::text,
		same bool DEFAULT 1::bigint === 2::bigint);
});
my @changes = (
	'ALTER SEQUENCE made.numbers RENAME TO count', 'ALTER FUNCTION made.filler RENAME TO same',
	q(ALTER TYPE made.grade RENAME VALUE 'low' TO 'poor'), 'ALTER TYPE made.grade RENAME TO mark',
	'ALTER OPERATOR public.=== (bigint, bigint) SET SCHEMA made', 'ALTER SCHEMA made RENAME TO kept');
$node->safe_psql('postgres', "$_; INSERT INTO defaults DEFAULT VALUES") for '', @changes;
my @rows = peek($node, 's', @named);
my %rows = map { (/("default".*)/)[0] => 1 } @rows;
is(scalar(keys %rows), 1 + @changes, 'each change of a name shows in the default');
like($rows[-1], qr/kept\.same\(nextval\('kept\.count'.*'poor'::kept\.mark.*OPERATOR\(kept\.===\)/, 'and all in the last one');
get($node, 's');

# --- others between the blocks of one that alters ----------------------------------------

$node->safe_psql('postgres', q{
	CREATE TYPE level AS ENUM ('low');
	CREATE TABLE two.t (id int PRIMARY KEY, v text, l level);
});
my $session = CppOutput::Faults::Session->new($node);
$session->query(q{BEGIN;
	ALTER SCHEMA two RENAME TO three;
	ALTER TYPE level RENAME VALUE 'low' TO 'lower';
	INSERT INTO three.t SELECT i, repeat('x', 100), 'lower' FROM generate_series(1, 1000) i});
$node->safe_psql('postgres', q{INSERT INTO two.t VALUES (0, 'other', 'low')});
$session->query(q{INSERT INTO three.t SELECT i, repeat('x', 100), 'lower' FROM generate_series(1001, 2000) i; COMMIT});
is_deeply([ peek($node, 's') ], [ peek($node, 's', streaming => 'off') ], 'names and labels are those of the transaction');
get($node, 's');

# --- a table that is locked by the one in progress ------------------------------------------

$node->safe_psql('postgres', 'CREATE TABLE d (id int PRIMARY KEY, v text, twice int GENERATED ALWAYS AS (id * 2) STORED)');
$session->query(q{BEGIN;
	ALTER TABLE d ADD e int DEFAULT 5;
	INSERT INTO d SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i});
$node->safe_psql('postgres', 'CREATE TABLE other (id int); INSERT INTO other VALUES (1)');
my @default = (format => 'wal2json', 'format-version' => 2, 'include-default' => 'on');
my $query = slot_sql('peek', 's', @default, streaming => 'reorder');
is(sql_error($node, "SET statement_timeout = '20s'; $query"), '', 'defaults are found without a lock');
$session->query('COMMIT');
$session->end;
is_deeply(
	[ peek($node, 's', @default, streaming => 'reorder') ],
	[ peek($node, 's', @default) ],
	'defaults: reorder is as off');
is(scalar(grep { /"default":"5"/ } peek($node, 's', @default)), 1000, 'defaults: all');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'no crash');
$node->stop;
done_testing();
