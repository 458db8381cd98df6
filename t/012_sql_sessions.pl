# Calls of the SQL functions that end in an error, again and again in one
# session: nothing piles up, and the session is as before.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use Test::More;

my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\n");
create_fault_type($node);
create_slot($node, 's');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, d date, i interval, x double precision, b bytea, z timestamptz, f fault, v text);
	INSERT INTO t SELECT n, '2026-11-29', '1 day 02:03:04', 0.1, '\x01ff', '2026-11-29 12:00+00', 'f' || n, repeat('v', 200)
	FROM generate_series(1, 1500) n;
});
my @expected = peek($node, 's');
is(scalar(@expected), 1502, 'what is to be decoded');

# --- memory ------------------------------------------------------------------

my %failing = (
	'an output function, plain' => [ 'SET fault.call = 700', "'streaming', 'off'" ],
	'an output function, with a spill file' => [ 'SET fault.call = 1400', "'reorder-work-mem', '64kB'" ],
	'an option' => [ 'SET fault.call = 1', "'tables', 'public.t,'" ],
	'a spill file' => [ "SET temp_file_limit = '100kB'", "'reorder-work-mem', '64kB', 'spill-compression', 'off'" ]);
my $memory = 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
my $contexts = 'SELECT count(*) FROM pg_backend_memory_contexts';
for my $name (sort keys %failing)
{
	my ($setting, $options) = @{ $failing{$name} };
	my $session = CppOutput::Faults::Session->new($node);
	$session->query("SET fault.action = error; SET client_min_messages = error");
	my $failures = 0;
	my $fail = sub {
		for (1 .. $_[0])
		{
			$session->query("$setting; SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL, $options)");
			$failures++ if $session->{said} =~ /ERROR:/;
		}
	};
	$fail->(10);
	$session->query($memory);
	my ($bytes, $count) = ($session->query($memory), $session->query($contexts));
	$fail->(100);
	is($failures, 110, "$name: each call fails");
	# hash tables of the server may grow once
	cmp_ok($session->query($memory) - $bytes, '<', 100_000, "$name: a hundred of them leave no memory behind");
	is($session->query($contexts), $count, "$name: and no memory context");
	is_deeply([ temp_files($node) ], [], "$name: and no file");
	is( $session->query("SET fault.action = none; RESET temp_file_limit; "
			  . "SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL)"),
		1502, "$name: the next call works");
	$session->query('CREATE TABLE invalidates (id int); DROP TABLE invalidates; ALTER TABLE t REPLICA IDENTITY DEFAULT');
	is($session->{said}, '', "$name: invalidations find no dead cache");
	$session->end;
}

# successful calls don't either
my $session = CppOutput::Faults::Session->new($node);
my $work = sub {
	$session->query("SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL, 'reorder-work-mem', '64kB')")
	  for 1 .. $_[0];
};
$work->(5);
$session->query($memory);
my $bytes = $session->query($memory);
$work->(30);
cmp_ok($session->query($memory) - $bytes, '<', 100_000, 'calls that work leave no memory behind');
$session->end;

# --- settings ----------------------------------------------------------------

my %settings = (
	DateStyle => 'German, DMY',
	IntervalStyle => 'sql_standard',
	extra_float_digits => '-3',
	bytea_output => 'escape',
	TimeZone => 'Asia/Tokyo');
my $set = join ' ', map { "SET $_ = '$settings{$_}';" } sort keys %settings;
# what they are, and what they do
my $shown = join '|', map { $settings{$_} } sort keys %settings;
my $look = 'SELECT '
  . join(', ', map { "current_setting('$_')" } sort keys %settings)
  . q{; SELECT date '2026-11-29', interval '1 day 02:03:04', float8 '0.123456789012345', bytea '\x01ff', timestamptz '2026-11-29 12:00+00'};
my $looks = "$shown\n29.11.2026|1 2:03:04|0.123456789012|\\001\\377|29.11.2026 21:00:00 JST";
my $peek = "SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL";

$session = CppOutput::Faults::Session->new($node);
is($session->query("$set $look"), $looks, 'settings of the session');
is_deeply([ split /\n/, $session->query(slot_sql('peek', 's')) ], \@expected, 'they do not change the stream');
is($session->query($look), $looks, 'nor does decoding change them');

for my $streaming ('off', 'reorder', 'on')
{
	my $failing = "$peek, 'streaming', '$streaming')";
	my $faults = 'SET fault.action = error; SET fault.call = 500';
	$session->query("$faults; $failing");
	like($session->{said}, qr/injected fault/, "streaming=$streaming: an error");
	is($session->query($look), $looks, "streaming=$streaming: settings after an error");

	$session->query("BEGIN; SAVEPOINT s; $faults; $failing");
	like($session->{said}, qr/injected fault/, "streaming=$streaming: an error after a savepoint");
	is($session->query("ROLLBACK TO s; $look"), $looks, "streaming=$streaming: settings after ROLLBACK TO");
	is($session->query("SET fault.action = none; $failing") > 0, 1, "streaming=$streaming: the same transaction decodes on");
	$session->query('COMMIT');

	(my $perform = $failing) =~ s/^SELECT/PERFORM/;
	$session->query(qq{DO \$\$
		DECLARE n int;
		BEGIN
			PERFORM set_config('fault.action', 'error', false);
			FOR i IN 1 .. 10 LOOP
				PERFORM set_config('fault.call', (i * 100)::text, false);
				BEGIN
					$perform;
					RAISE 'no error';
				EXCEPTION WHEN data_exception THEN
					IF current_date::text !~ '^[0-9]+\\.[0-9]+\\.[0-9]+\$' THEN RAISE 'DateStyle is %', current_date; END IF;
				END;
			END LOOP;
			PERFORM set_config('fault.action', 'subtransaction', false);
			PERFORM set_config('fault.call', '0', false);
			$perform;
			PERFORM set_config('fault.action', 'none', false);
		END \$\$});
	is($session->{said}, '', "streaming=$streaming: exception blocks around errors");
	is($session->query($look), $looks, "streaming=$streaming: settings after exception blocks");
}

# an output function sees native settings, right after a subtransaction too
$session->query("SET fault.action = settings; SET fault.call = 0");
my ($native) = grep { /"id":1,/ } split /\n/, $session->query(slot_sql('peek', 's'));
# ISO dates, ISO 8601 intervals
like($native, qr/"f":"1 3 1"/, 'native formats ask for ISO forms');
$session->query("SET fault.action = none");

# --- cancel ------------------------------------------------------------------

for my $streaming ('off', 'reorder', 'on')
{
	$session->query("SET fault.action = sleep; SET fault.seconds = 1000; SET fault.call = 1400");
	$session->start("$peek, 'streaming', '$streaming', 'reorder-work-mem', '64kB')");
	my $pid = wait_for_slot_use($node, 's');
	wait_until(sub { temp_files($node) > 0 }, 'a temporary file') if $streaming eq 'reorder';
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$session->finish;
	like($session->{said}, qr/canceling statement due to user request/, "streaming=$streaming: cancelled");
	is($session->query($look), $looks, "streaming=$streaming: settings after cancel");
	is_deeply([ temp_files($node) ], [], "streaming=$streaming: no file after cancel");

	$session->query("SET fault.call = 1400; SET statement_timeout = 300; "
		  . "$peek, 'streaming', '$streaming', 'reorder-work-mem', '64kB')");
	like($session->{said}, qr/canceling statement due to statement timeout/, "streaming=$streaming: timed out");
	$session->query("RESET statement_timeout; SET fault.action = none");
	is($session->query("$peek, 'streaming', 'reorder')"), 1502, "streaming=$streaming: the next call works");
}
$session->end;

# terminated
$session = CppOutput::Faults::Session->new($node);
$session->query("SET fault.action = sleep; SET fault.seconds = 1000; SET fault.call = 1400");
$session->start("$peek, 'reorder-work-mem', '64kB')");
my $pid = wait_for_slot_use($node, 's');
wait_until(sub { temp_files($node) > 0 }, 'a temporary file');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
wait_until_unused($node, 's');
wait_until(sub { temp_files($node) == 0 }, 'the file to go');
pass('no file after pg_terminate_backend');
is_deeply([ get($node, 's') ], \@expected, 'the slot has lost nothing');

$node->stop;
done_testing();
