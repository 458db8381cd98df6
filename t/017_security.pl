# What a user with REPLICATION, and no other right, gets by way of options; and
# that filters hold on every path.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\n");
create_slot($node, 's');
create_slot($node, 'twophase', two_phase => 1);
$node->safe_psql('postgres', q{
	CREATE ROLE reader LOGIN REPLICATION;
	CREATE TABLE secret (id int PRIMARY KEY, v text);
	CREATE TABLE t (id int PRIMARY KEY, v text, hidden text NOT NULL DEFAULT 'hidden');
	INSERT INTO t (id, v) VALUES (1, 'one');
});
my @expected = peek($node, 's');

# --- what the user can do at all -------------------------------------------------

my $connstr = $node->connstr('postgres') . ' user=reader';
my ($status, $out, $err) = $node->psql('postgres', 'SELECT * FROM public.t', extra_params => [ '-U', 'reader' ]);
like($err, qr/permission denied/, 'the user reads no table');
($status, $out, $err) = $node->psql('postgres', slot_sql('peek', 's'), extra_params => [ '-U', 'reader' ]);
is_deeply([ split /\n/, $out ], \@expected, 'the user decodes');

# --- no option names a file, a program, a host or SQL ------------------------------

my $options = $node->safe_psql('postgres', q{
	CREATE FUNCTION pg_temp.o(OUT name text, OUT formats text, OUT type text, OUT "default" text, OUT allowed text, OUT description text)
		RETURNS SETOF record LANGUAGE c AS '} . $CppOutput::Test::library_dir . q{/cpp_output', 'cpp_output_options';
	SELECT DISTINCT name FROM pg_temp.o() ORDER BY name});
my @options = split /\n/, $options;
cmp_ok(scalar(@options), '>', 10, 'there are options');
my $canary = "$dir/canary";
for my $option (@options)
{
	for my $value ($canary, "|touch $canary", "; COPY secret TO '$canary'", "public.\$(touch $canary)")
	{
		# refused or taken for a name: in no case does anything come of it
		my (undef, $stdout) = $node->psql('postgres', slot_sql('peek', 's', $option => $value), extra_params => [ '-U', 'reader' ]);
		unlike($stdout, qr/canary/, "$option: a value of that kind has no effect") if $stdout ne '';
	}
}
ok(!-e $canary, 'no file came of any option');

# --- settings that the user may change do no harm either ----------------------------

for my $setting ('cpp_output.streaming=/etc/passwd', "cpp_output.streaming='; SELECT 1'")
{
	my (undef, undef, $stderr) = $node->psql('postgres', 'SET ' . $setting =~ s/=(?!')(.*)/='$1'/r . '; ' . slot_sql('peek', 's'));
	like($stderr, qr/cpp_output\.streaming/, "$setting is refused by name");
}

# --- excluded columns stay out on every path -------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE keyed (hidden text PRIMARY KEY, v text);
	CREATE TABLE whole (id int, hidden text, v text);
	CREATE TABLE by_index (hidden text NOT NULL, id int NOT NULL, v text, UNIQUE (hidden, id));
	CREATE TABLE parted (id int, hidden text, v text) PARTITION BY LIST (id);
	CREATE TABLE part1 PARTITION OF parted FOR VALUES IN (1);
	CREATE TABLE part2 PARTITION OF parted FOR VALUES IN (2);
	ALTER TABLE whole REPLICA IDENTITY FULL;
	ALTER TABLE part1 REPLICA IDENTITY FULL;
	ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_hidden_id_key;
	ALTER TABLE whole ALTER hidden SET STORAGE EXTERNAL;
});
my $changes = q{
	INSERT INTO keyed SELECT 'hidden' || i, 'v' FROM generate_series(1, 500) i;
	UPDATE keyed SET v = 'w';
	UPDATE keyed SET hidden = 'hidden again ' || hidden;
	DELETE FROM keyed;
	INSERT INTO whole SELECT i, repeat('hidden' || i, 1000), 'v' FROM generate_series(1, 50) i;
	UPDATE whole SET v = 'w';
	UPDATE whole SET hidden = repeat('hidden', 500);
	DELETE FROM whole;
	INSERT INTO by_index SELECT 'hidden' || i, i, 'v' FROM generate_series(1, 500) i;
	UPDATE by_index SET hidden = 'hidden again' || id;
	DELETE FROM by_index;
	INSERT INTO parted VALUES (1, 'hidden', 'v');
	UPDATE parted SET id = 2;
	DELETE FROM parted};
$node->safe_psql('postgres', "BEGIN; $changes; COMMIT");
$node->safe_psql('postgres', "BEGIN; $changes; PREPARE TRANSACTION 'p'");
$node->safe_psql('postgres', "COMMIT PREPARED 'p'");

for my $slot ('s', 'twophase')
{
	for my $format ('json', 'test_decoding', 'wal2json')
	{
		for my $streaming ('off', 'on', 'reorder')
		{
			next if $format eq 'wal2json' && $streaming eq 'on';    # there is no such thing
			my %options = (format => $format, streaming => $streaming);
			my $name = join ' ', $slot, map { "$_=$options{$_}" } sort keys %options;
			# test_decoding's stream shows nothing of rows
			cmp_ok(scalar(grep { /hidden/ } peek($node, $slot, %options)), '>', 0, "$name: there is something to hide")
			  unless $format eq 'test_decoding' && $streaming eq 'on';
			my @lines = peek($node, $slot, %options, 'exclude-columns' => '*.*.hidden');
			cmp_ok(scalar(@lines), '>', 10, "$name: there are changes");
			my @leaks = grep { /hidden/ } @lines;
			is(scalar(@leaks), 0, "$name: exclude-columns holds") or diag(substr $leaks[0], 0, 300);
			@leaks = grep { /hidden|"t"/ } peek($node, $slot, %options, 'exclude-tables' => '*.*');
			is(scalar(@leaks), 0, "$name: exclude-tables holds");
		}
	}
}
my @leaks = grep { /hidden/ } peek($node, 's', 'exclude-columns' => '*.*.hidden', 'include-relations' => 'on');
is(scalar(@leaks), 0, 'descriptions of relations leave the column out too');
# a table, its partitions and a name in the pattern's own quotes
my @tables = map { $_->{table} // () } map { decode_json($_) } peek($node, 's', tables => 'public."part1", PUBLIC.Whole');
my %tables = map { $_ => 1 } @tables;
is_deeply([ sort keys %tables ], [ 'part1', 'whole' ], 'tables lets through what it names');

# exclusion wins, and holds under the name that a table has at the time
$node->safe_psql('postgres', q{
	BEGIN;
	INSERT INTO secret VALUES (1, 'seen');
	ALTER TABLE secret RENAME TO renamed;
	INSERT INTO renamed VALUES (2, 'not seen');
	ALTER TABLE renamed RENAME v TO w;
	COMMIT;
	INSERT INTO renamed VALUES (3, 'not seen');
});
for my $streaming ('off', 'reorder')
{
	my @lines = grep { /seen/ } peek($node, 's', streaming => $streaming, 'exclude-tables' => 'public.renamed', tables => '*.*');
	is(scalar(@lines), 1, "streaming=$streaming: a table that is renamed in the middle");
	@lines = grep { /seen/ } peek($node, 's', streaming => $streaming, 'exclude-columns' => 'public.renamed.w, public.secret.v, public.renamed.v');
	is(scalar(@lines), 0, "streaming=$streaming: columns under all their names");
}

$node->stop;
done_testing();
