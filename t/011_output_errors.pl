# An ERROR in a type's output function, in the middle of a row, on every path:
# nothing is half sent, and the slot goes on.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 600;
my $fault_at = 400;

my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\n");
create_fault_type($node);
create_slot($node, 'plain');
create_slot($node, 'twophase', two_phase => 1);
$node->safe_psql('postgres', qq{
	CREATE TABLE t (id int PRIMARY KEY, before text, f fault, after text);
	INSERT INTO t SELECT i, repeat('b', 100), 'f' || i, repeat('a', 100) FROM generate_series(1, $rows) i;
	INSERT INTO t VALUES (10001, 'b', 'later', 'a');
});
$node->safe_psql('postgres', qq{
	BEGIN;
	INSERT INTO t SELECT i, repeat('b', 100), 'p' || i, repeat('a', 100) FROM generate_series(20001, 20000 + $rows) i;
	PREPARE TRANSACTION 'large';
	BEGIN;
	INSERT INTO t VALUES (30001, 'b', 'p1', 'a'), (30002, 'b', 'p2', 'a'), (30003, 'b', 'p3', 'a');
	PREPARE TRANSACTION 'small';
	COMMIT PREPARED 'large';
	COMMIT PREPARED 'small';
	INSERT INTO t VALUES (10002, 'b', 'last', 'a');
});

# Reads with a fault set; returns the lines, or dies with psql's error.
sub faulty
{
	my ($slot, $call, $sqlstate, %options) = @_;
	my $action = delete $options{-action} || 'error';
	my ($status, $stdout, $stderr) = $node->psql('postgres',
		"SET fault.action = $action; SET fault.sqlstate = '$sqlstate'; SET fault.call = $call; "
		  . slot_sql('peek', $slot, %options),
		on_error_stop => 1);
	die $stderr if $status != 0;
	return split /\n/, $stdout;
}

# Operations in order, runs of the same as "insert*3", transactions told apart.
sub shape
{
	my @shape;
	for my $line (@_)
	{
		my $event = decode_json($line);
		my $op = $event->{op};
		if ($op eq 'insert' && @shape && $shape[-1] =~ /^insert\*(\d+)$/)
		{
			$shape[-1] = 'insert*' . ($1 + 1);
			next;
		}
		push @shape, $op eq 'insert' ? 'insert*1' : $op;
	}
	return join ' ', @shape;
}

# --- errors that end the decoding -------------------------------------------

for my $slot ('plain', 'twophase')
{
	for my $streaming ('off', 'reorder', 'on')
	{
		my @expected = peek($node, $slot, streaming => $streaming);
		for my $call (1, $fault_at)
		{
			my @got = eval { faulty($slot, $call, '22012', streaming => $streaming) };
			is(scalar(@got), 0, "$slot, streaming=$streaming, call $call: nothing comes");
			like($@, qr/injected fault at call $call.*column "f" of table "t".*slot "$slot"/s,
				"$slot, streaming=$streaming, call $call: the error says where");
		}
		is_deeply([ peek($node, $slot, streaming => $streaming) ],
			\@expected, "$slot, streaming=$streaming: all is there afterwards");
		is_deeply([ faulty($slot, 0, '22012', streaming => $streaming, -action => 'subtransaction') ],
			\@expected, "$slot, streaming=$streaming: subtransactions of an output function do no harm");
	}
}
eval { faulty('plain', $fault_at, '40000', streaming => 'off') };
like($@, qr/injected fault/, 'in a complete transaction SQLSTATE 40000 is as any other');

# --- what the server takes for a concurrent abort, and goes on ---------------

my $end = 'begin insert*1 commit';
my %expected = (
	# the rest of what was streamed is dropped by the server
	'plain reorder' => 'begin insert*' . ($fault_at - 1) . " commit $end",
	'twophase reorder' => 'begin insert*' . ($fault_at - 1) . " commit $end",
);
for my $slot ('plain', 'twophase')
{
	my @whole = peek($node, $slot, streaming => 'reorder');
	my @lines = faulty($slot, $fault_at, '40000', streaming => 'reorder');
	is_json("$slot, streaming=reorder, 40000: each line is whole", @lines);
	like(shape(@lines), qr/^\Q$expected{"$slot reorder"}\E/,
		"$slot, streaming=reorder, 40000: exactly what came before the fault");
	my $count = $fault_at;
	is_deeply([ @lines[ 0 .. $count - 1 ] ], [ @whole[ 0 .. $count - 1 ] ],
		"$slot, streaming=reorder, 40000: and that is unharmed");
	is_deeply([ @lines[ $count + 1 .. $#lines ] ], [ @whole[ $rows + 2 .. $#whole ] ],
		"$slot, streaming=reorder, 40000: all later transactions are complete");

	@whole = peek($node, $slot, streaming => 'on');
	@lines = faulty($slot, $fault_at, '40000', streaming => 'on');
	is_json("$slot, streaming=on, 40000: each line is whole", @lines);
	my $open = 0;
	for my $event (map { decode_json($_) } @lines)
	{
		$open++ if $event->{op} eq 'stream_start';
		$open-- if $event->{op} eq 'stream_stop';
		last if $open < 0 || $open > 1;
	}
	is($open, 0, "$slot, streaming=on, 40000: blocks are balanced");
	my ($commit) = grep { $lines[$_] =~ /"op":"stream_commit"/ } 0 .. $#lines;
	my ($whole_commit) = grep { $whole[$_] =~ /"op":"stream_commit"/ } 0 .. $#whole;
	is_deeply([ @lines[ $commit .. $#lines ] ], [ @whole[ $whole_commit .. $#whole ] ],
		"$slot, streaming=on, 40000: from the COMMIT on all is as it should be");
}

# prepared, not streamed: calls $rows + 1 and more belong to it
my @whole = peek($node, 'twophase', streaming => 'off');
my ($first) = grep { $whole[$_] =~ /"id":20001,/ } 0 .. $#whole;
for my $keep (0, 1, 57)
{
	my @lines = faulty('twophase', $rows + 1 + $keep + 1, '40000', streaming => 'off');
	is_json("prepared, 40000 after $keep rows: each line is whole", @lines);
	is_deeply([ @lines[ 0 .. $first + $keep - 1 ] ], [ @whole[ 0 .. $first + $keep - 1 ] ],
		"prepared, 40000 after $keep rows: what came before");
	is_deeply(
		[ @lines[ $first + $keep .. $#lines ] ],
		[ @whole[ $first + $rows .. $#whole ] ],
		"prepared, 40000 after $keep rows: PREPARE and all that follows");
}

# --- in a walsender ----------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir;
for my $streaming ('off', 'reorder')
{
	my @expected = peek($node, 'plain', streaming => $streaming);
	my $client = start_client($node, 'plain', "$dir/$streaming", { streaming => $streaming },
		env => { PGOPTIONS => "-c fault.action=error -c fault.call=$fault_at -c fault.sqlstate=22012" });
	$client->{run}->finish;
	like(${ $client->{stderr} }, qr/injected fault at call $fault_at/,
		"walsender, streaming=$streaming: the client gets the error");
	my @lines = lines_of("$dir/$streaming");
	is_deeply(\@lines, [ @expected[ 0 .. $#lines ] ],
		"walsender, streaming=$streaming: what it received is a beginning");
	unlike(join("\n", @lines), qr/"f":"f$fault_at"/, "walsender, streaming=$streaming: not the bad row");
	is_deeply([ peek($node, 'plain', streaming => $streaming) ],
		\@expected, "walsender, streaming=$streaming: nothing is lost");
}

# --- a row that has no good column at all ------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE bad (f fault, g fault);
	ALTER TABLE bad REPLICA IDENTITY FULL;
	INSERT INTO bad VALUES ('1', '2');
	UPDATE bad SET f = '3';
	DELETE FROM bad;
});
my @good = peek($node, 'plain', tables => 'public.bad');
is(scalar(@good), 9, 'three transactions');
for my $format ('json', 'test_decoding', 'wal2json')
{
	for my $call (1 .. 8)
	{
		eval { faulty('plain', $call, '22012', tables => 'public.bad', format => $format) };
		like($@, qr/injected fault at call $call/, "$format: a fault at call $call");
	}
}
is_deeply([ peek($node, 'plain', tables => 'public.bad') ], \@good, 'as before');

# --- rows that nobody wants -----------------------------------------------------

# A call number too high: only a row that was rolled back would get there.
get($node, 'plain');
$node->safe_psql('postgres', qq{
	CREATE TABLE unwanted (LIKE t);
	CREATE TABLE cleared (f fault);
	CREATE FUNCTION fill(first int) RETURNS void LANGUAGE sql AS
		\$\$INSERT INTO unwanted SELECT i, repeat('b', 100), 'r' || i, repeat('a', 100)
			FROM generate_series(first, first + $rows - 1) i\$\$;
	BEGIN; SELECT fill(1); ROLLBACK;
	BEGIN; SELECT fill(1);
	SAVEPOINT a; SELECT fill(1001); TRUNCATE cleared; ROLLBACK TO a;
	SELECT pg_logical_emit_message(true, 'p', 'm');
	INSERT INTO unwanted VALUES (0, 'b', 'r0', 'a'); COMMIT;
});
my %unwanted = (tables => 'public.unwanted, public.cleared', messages => 'on');
my @wanted = peek($node, 'plain', streaming => 'off', %unwanted);
is(shape(@wanted), "begin insert*$rows message insert*1 commit", 'rolled back rows are not there');
is_deeply([ faulty('plain', $rows + 2, '22012', streaming => 'reorder', %unwanted) ],
	\@wanted, 'streaming=reorder: and their output function is not called any more');
eval { faulty('plain', $rows + 1, '22012', streaming => 'reorder', %unwanted) };
like($@, qr/injected fault/, 'streaming=reorder: unlike that of the last row');

$node->stop;
done_testing();
