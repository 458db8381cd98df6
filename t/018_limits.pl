# The edges of what a server can hold. The row beyond a gigabyte needs some 5 GB
# of memory, and runs only with CPO_LARGE=1.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use Encode ();
use Test::More;

my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\n");
$ENV{PGCLIENTENCODING} = 'UTF8';
create_slot($node, 's');

# reorder, with files, says what plain decoding does
sub same_as_plain
{
	my ($what, %options) = @_;
	my @plain = peek($node, 's', streaming => 'off', %options);
	is_deeply([ peek($node, 's', %options, 'reorder-work-mem' => '64kB') ], \@plain, "$what: reorder is as off");
	is_json("$what: JSON", @plain);
	return map { decode_json($_) } @plain;
}

# --- identifiers of 63 bytes -----------------------------------------------------

my @names = map { substr $_ x 63, 0, int(63 / length Encode::encode('UTF-8', $_)) } 'é', '日', '🦊', '"', "\n", '\\', '%';
for my $name (@names)
{
	my $quoted = '"' . ($name =~ s/"/""/gr) . '"';
	$node->safe_psql('postgres', Encode::encode('UTF-8', qq{
		CREATE SCHEMA $quoted;
		CREATE TABLE $quoted.$quoted ($quoted int PRIMARY KEY, v text);
		INSERT INTO $quoted.$quoted VALUES (1, 'v');
		UPDATE $quoted.$quoted SET v = 'w';
		DELETE FROM $quoted.$quoted;
	}));
	my @events = same_as_plain('long names', 'include-relations' => 'on');
	is_deeply([ map { [ @$_{qw(schema table)} ] } grep { $_->{schema} } @events ], [ ([ $name, $name ]) x 6 ], 'schema and table');
	is_deeply([ map { $_->{key} } grep { $_->{op} eq 'delete' } @events ], [ { $name => 1 } ], 'column');
	my $pattern = Encode::encode('UTF-8', "$quoted.$quoted");
	is(scalar(peek($node, 's', tables => $pattern)), 9, 'a pattern of such names');
	is(scalar(peek($node, 's', 'exclude-columns' => "$pattern." . Encode::encode('UTF-8', $quoted))) > 0, 1, 'and one of columns');
	get($node, 's');
}

# --- 1,600 columns --------------------------------------------------------------------

my $columns = join ', ', map { "column_number_$_ int" } 1 .. 1600;
my $values = join ', ', 1 .. 1600;
$node->safe_psql('postgres', qq{
	CREATE TABLE wide ($columns);
	ALTER TABLE wide REPLICA IDENTITY FULL;
	BEGIN;
	INSERT INTO wide VALUES ($values);
	INSERT INTO wide SELECT (w).* FROM (SELECT w FROM wide w, generate_series(1, 5)) s;
	UPDATE wide SET column_number_1600 = -1600;
	COMMIT;
	ALTER TABLE wide DROP column_number_800;
	DELETE FROM wide;
});
my @events = same_as_plain('1,600 columns');
is_deeply($events[1]{new}, { map { ("column_number_$_" => $_) } 1 .. 1600 }, '1,600 columns: all values');
my ($delete) = grep { $_->{op} eq 'delete' } @events;
is(scalar(keys %{ $delete->{old} }), 1599, '1,600 columns: one less when it is dropped');
my ($insert) = map { decode_json($_) } grep { /"insert"/ }
  peek($node, 's', 'exclude-columns' => join ',', map { "public.wide.column_number_$_" } 1 .. 1599);
is_deeply($insert->{new}, { column_number_1600 => 1600 }, '1,600 columns: all but one left out');
get($node, 's');

# --- many tables and subtransactions ---------------------------------------------------

$node->safe_psql('postgres', q{
	DO $$ BEGIN
		FOR i IN 1 .. 500 LOOP
			EXECUTE format('CREATE TABLE many_%s (id int PRIMARY KEY)', i);
		END LOOP;
	END $$;
	DO $$ BEGIN
		FOR i IN 1 .. 500 LOOP
			EXECUTE format('INSERT INTO many_%s VALUES (1)', i);
		END LOOP;
	END $$;
	DO $$ BEGIN
		FOR i IN 1 .. 500 LOOP
			EXECUTE format('ALTER TABLE many_%s ADD more int', i);
			BEGIN
				EXECUTE format('INSERT INTO many_%s VALUES (2, %s)', i, i);
				IF i % 2 = 0 THEN RAISE division_by_zero; END IF;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
	END $$;
});
@events = same_as_plain('500 tables');
is(scalar(grep { $_->{op} eq 'insert' } @events), 500 + 250, '500 tables: a row in each, and in half of them another');
is_deeply([ map { $_->{new}{more} } grep { ($_->{new}{id} // 0) == 2 } @events ], [ grep { $_ % 2 } 1 .. 500 ], '500 tables: the new column');
get($node, 's');

# --- values ------------------------------------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE large (id int PRIMARY KEY, t text, b bytea);
	ALTER TABLE large ALTER t SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL;
	INSERT INTO large VALUES (1, repeat('a"', 500000), decode(repeat('00ff', 500000), 'hex'));
	INSERT INTO large VALUES (2, 'small', 'small');
});
@events = same_as_plain('1 MB values');
is(length $events[1]{new}{t}, 1_000_000, '1 MB of text');
is(length $events[1]{new}{b}, 4 * int((1_000_000 + 2) / 3), '1 MB of bytea in base64');
get($node, 's');

SKIP:
{
	skip 'set CPO_LARGE=1 for a row beyond a gigabyte', 6 unless $ENV{CPO_LARGE};
	$node->safe_psql('postgres', q{
		INSERT INTO large SELECT 3, 'short', string_agg(decode(repeat('00', 1000000), 'hex'), '') FROM generate_series(1, 600);
		INSERT INTO large VALUES (4, 'after', NULL);
	});
	for my $options ("'bytea', 'hex'", "'bytea', 'hex', 'streaming', 'off'", "'format', 'test_decoding'", "'format', 'wal2json'")
	{
		my $error = sql_error($node, "SELECT lsn FROM pg_logical_slot_peek_changes('s', NULL, NULL, $options)");
		like($error, qr/ERROR:.*table "public\.large".*column "b".*exclude-columns/s,
			"$options: the error names the table and the column, and says what to do");
	}
	my @got = map { decode_json($_) } grep { /"insert"/ } peek($node, 's', 'exclude-columns' => 'public.large.b');
	is_deeply([ map { $_->{new}{id} } @got ], [ 3, 4 ], 'the hint helps');
	# in base64 it fits
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_logical_slot_get_changes('s', NULL, NULL)"), 6, '800 MB fit');
}

$node->stop;
done_testing();
