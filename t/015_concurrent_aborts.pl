# Transactions and subtransactions that roll back while they are streamed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;

my %small = ('reorder-work-mem' => '64kB');
my $dir = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\nautovacuum = off\n");
create_fault_type($node);
create_slot($node, 's');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, v text, f fault);
	CREATE FUNCTION fill(lo int, hi int) RETURNS void LANGUAGE sql AS
		$$INSERT INTO t SELECT i, repeat(md5(i::text), 5), 'f' FROM generate_series(lo, hi) i$$;
	CREATE FUNCTION say(what text) RETURNS pg_lsn LANGUAGE sql AS
		$$SELECT pg_logical_emit_message(true, 'said', what)$$;
});

# reorder, with and without files, is what plain decoding of the same says
sub same_as_plain
{
	my ($what, %options) = @_;
	my @plain = peek($node, 's', streaming => 'off', %options);
	is_deeply([ peek($node, 's', %options) ], \@plain, "$what: reorder is as off");
	is_deeply([ peek($node, 's', %options, %small) ], \@plain, "$what: and so is reorder with files");
	my @streamed = map { decode_json($_) } peek($node, 's', %options, streaming => 'on');
	is_deeply([ applied(@streamed) ], [ applied(map { decode_json($_) } @plain) ],
		"$what: and what a consumer of streaming=on keeps");
	is_deeply([ temp_files($node) ], [], "$what: no file");
	return @plain;
}

my $canonical = JSON::PP->new->canonical->allow_bignum;

# What a consumer keeps: changes and messages of committed transactions, in
# order of COMMIT.
sub applied
{
	my (@kept, %open, $current);
		for my $event (@_)
	{
		my $op = $event->{op};
		if ($op eq 'stream_start') { $current = $open{ $event->{xid} } ||= [] }
		elsif ($op eq 'stream_stop') { undef $current }
		elsif ($op eq 'stream_abort')
		{
			if ($event->{subxid} eq $event->{xid}) { delete $open{ $event->{xid} } }
			else { @{ $open{ $event->{xid} } } = grep { $_->[0] ne $event->{subxid} } @{ $open{ $event->{xid} } } }
		}
		elsif ($op eq 'stream_commit') { push @kept, map { $_->[1] } @{ delete $open{ $event->{xid} } } }
		elsif ($op =~ /^(insert|update|delete|message|truncate)$/)
		{
			my $xid = delete $event->{xid} // 0;
			my $text = $canonical->encode($event);
			if ($current) { push @$current, [ $xid, $text ] }
			else { push @kept, $text }
		}
	}
	return @kept;
}

# --- rolled back in blocks of their own -------------------------------------------

$node->safe_psql('postgres', q{
	BEGIN;
	SELECT fill(1, 500), say('kept 1');
	SAVEPOINT a;
		SELECT fill(1001, 1500), say('lost 1');
		SAVEPOINT b;
			SELECT fill(2001, 2500), say('lost 2');
		RELEASE b;
		SELECT say('lost 3');
	ROLLBACK TO a;
	SELECT say('kept 2');
	SAVEPOINT c;
		SELECT say('lost 4');
	ROLLBACK TO c;
		SELECT say('kept 3'), fill(3001, 3500);
		SAVEPOINT d;
			SELECT fill(4001, 4500);
		ROLLBACK TO d;
		SAVEPOINT e;
			SELECT say('kept 4'), fill(5001, 5500);
		RELEASE e;
	RELEASE c;
	SAVEPOINT last;
		SELECT fill(6001, 6500), say('lost 5');
	ROLLBACK TO last;
	COMMIT;
	BEGIN;
	SELECT say('lost 6'), fill(7001, 7500);
	ROLLBACK;
	SELECT say('kept 5');
});
my @plain = same_as_plain('savepoints');
my @said = map { /"content":"(\w+ \d)"/ ? $1 : () } @plain;
is_deeply(\@said, [ map { "kept $_" } 1 .. 5 ], 'messages of what was rolled back are gone');
is(scalar(grep { /"op":"insert"/ } @plain), 1500, 'and so are its rows');
get($node, 's');

# --- rolled back by the time that they are decoded ----------------------------------

# The decoder sees each of these aborted already when it streams its changes,
# so what it looks up in catalogs may be gone: the server's concurrent abort.
$node->safe_psql('postgres', q{
	BEGIN;
	CREATE TABLE gone (id int, f fault);
	ALTER TABLE t ADD COLUMN more text DEFAULT 'more';
	INSERT INTO gone SELECT i, 'f' FROM generate_series(1, 3000) i;
	SELECT fill(8001, 8500) FROM (SELECT say('lost')) s;
	ROLLBACK;
	BEGIN;
	SELECT fill(9001, 9500);
	SAVEPOINT a;
		CREATE TYPE gone_type AS ENUM ('x', 'y');
		CREATE TABLE gone2 (id int, e gone_type);
		INSERT INTO gone2 SELECT i, 'x' FROM generate_series(1, 3000) i;
		SELECT say('lost');
	ROLLBACK TO a;
	INSERT INTO t VALUES (9999, 'after', 'f');
	COMMIT;
	INSERT INTO t VALUES (10000, 'last', 'f');
});
@plain = same_as_plain('catalogs that are gone');
is(scalar(grep { /"op":"insert"/ } @plain), 502, 'catalogs that are gone: what was committed');
is(scalar(grep { /gone|lost/ } @plain), 0, 'catalogs that are gone: nothing else');
get($node, 's');

# --- aborted while the decoder is in the middle of it ---------------------------------

# a walsender that sleeps in an output function, then finds the catalog gone
for my $streaming ('reorder', 'on')
{
	my $session = CppOutput::Faults::Session->new($node);
	my $client = start_client($node, 's', "$dir/$streaming", { %small, streaming => $streaming },
		env => { PGOPTIONS => '-c fault.action=sleep -c fault.seconds=2 -c fault.call=200' });
	my $pid = wait_for_slot_use($node, 's');
	$session->query('BEGIN; INSERT INTO t VALUES (-1, $$x$$, $$f$$)');
	$session->query('SAVEPOINT a; CREATE TABLE later (id int, f fault); SELECT fill(20001, 20300); '
		  . 'INSERT INTO later SELECT i, $$f$$ FROM generate_series(1, 2000) i');
	$session->query('ROLLBACK TO a; INSERT INTO t VALUES (-2, $$x$$, $$f$$); COMMIT');
	$node->safe_psql('postgres', q{INSERT INTO t VALUES (-3, 'x', 'f')});
	my @lines;
	wait_until(sub { @lines = lines_of("$dir/$streaming"); grep { /"id":-3,/ } @lines }, 'the last row');
	is(walsender_pid($node, 's'), $pid, "streaming=$streaming: the walsender goes on");
	is_json("streaming=$streaming: each line is whole", @lines);
	my @kept = grep { /insert/ } applied(map { decode_json($_) } @lines);
	is(scalar(@kept), 3, "streaming=$streaming: what was committed is kept");
	like($kept[ $_ - 1 ], qr/"id":"?-$_\b/, "streaming=$streaming: row $_") for 1 .. 3;
	$client->{run}->signal('INT');
	eval { $client->{run}->finish };
	wait_until_unused($node, 's');
	is_deeply([ temp_files($node) ], [], "streaming=$streaming: no file");
	$session->query('DELETE FROM t WHERE id < 0');
	$session->end;
	get($node, 's');
}

# --- transactions without an end ---------------------------------------------------------

# A crash leaves no abort record; the next start of the server tells.
my $client = start_client($node, 's', "$dir/crash", {%small});
my $walsender = wait_for_slot_use($node, 's');
my $session = CppOutput::Faults::Session->new($node);
$session->query('BEGIN; SELECT fill(30001, 31000)');
wait_until(sub { temp_files($node) > 0 }, 'a file');
$node->stop('immediate');
$_->{run}->kill_kill for $session, $client;
$node->start;
$node->safe_psql('postgres', q{INSERT INTO t VALUES (-4, 'x', 'f'); CHECKPOINT; SELECT pg_log_standby_snapshot()})
  if server_major($node) >= 16;
$node->safe_psql('postgres', q{INSERT INTO t VALUES (-5, 'x', 'f')});
same_as_plain('a crash');
my @lines = recvlogical($node, 's', %small);
is(scalar(grep { /"id":30\d\d\d,/ } @lines), 0, 'nothing of what a crash ended');
like("@lines", qr/"id":-5,/, 'but what came later');

# --- messages beside subtransactions, whatever the order --------------------------

# A message has the end of its record as LSN, which may be the first LSN of a
# subtransaction; the server then sends either first, here the row. If the row is
# of a table that was not decoded before, the server notices that the
# subtransaction has rolled back, and throws the message away with it. Only what
# there is counts, not its order.
my $id = 100_000;
my $script = '';
sub rows
{
	my ($n, $table) = @_;
	my $lo = $id + 1;
	$id += $n;
	return 'INSERT INTO ' . ($table || 't') . " SELECT i, repeat(md5(i::text), 5), 'f' FROM generate_series($lo, $id) i;\n";
}
for my $kind ('t', 'cold')
{
	for my $depth (0 .. 3)
	{
		my $table = $kind eq 't' ? 't' : "cold_$depth";
		$script .= "CREATE TABLE $table (LIKE t);\n" if $kind ne 't';
		$script .= "BEGIN;\n";
		$script .= "SAVEPOINT a$_;\n" . rows(1) for 1 .. $depth;
		$script .= rows(1) . "SAVEPOINT b;\nSELECT say('kept with $kind at $depth');\nSAVEPOINT c;\n" . rows(500, $table);
		$script .= "ROLLBACK TO c;\n" . rows(1) . "COMMIT;\n";
		$script .= "BEGIN;\n" . rows(1) . "SAVEPOINT b;\nSELECT say('lost');\nSAVEPOINT c;\n" . rows(500, "$table") ;
		$script .= "ROLLBACK TO b;\n" . rows(1) . "COMMIT;\n";
		# so long that it is streamed at once
		$script .= "BEGIN;\n" . rows(1) . "SAVEPOINT b;\nSELECT say(repeat('once', 30000));\nSAVEPOINT c;\n" . rows(500, $table);
		$script .= "COMMIT;\n";
	}
}
my $seed = 1;
sub random_below { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; return ($seed >> 16) % $_[0] }
for my $transaction (1 .. 40)
{
	my @open;
	$script .= "BEGIN;\n";
	for (1 .. 40)
	{
		my $kind = random_below(10);
		if ($kind < 4) { $script .= "SELECT say('message " . $id++ . "');\n" }
		elsif ($kind < 6) { $script .= rows(1 + random_below(200)) }
		elsif ($kind < 8) { push @open, 's' . $id++; $script .= "SAVEPOINT $open[-1];\n" }
		elsif (@open)
		{
			my $name = $open[ random_below(scalar @open) ];
			pop @open while $open[-1] ne $name;
			pop @open;
			$script .= ($kind == 8 ? "ROLLBACK TO $name;\n" : '') . "RELEASE $name;\n";
		}
	}
	$script .= "COMMIT;\n";
}
$node->safe_psql('postgres', $script);
my @off = sort(peek($node, 's', streaming => 'off'));
is(scalar(grep { /"content":"kept with/ } @off), 8, 'savepoints behind messages: the messages');
is_deeply([ sort(peek($node, 's')) ], \@off, 'savepoints behind messages: reorder has what off has');
is_deeply([ sort(peek($node, 's', %small)) ], \@off, 'savepoints behind messages: and so has reorder with files');
is_deeply(
	[ sort(applied(map { decode_json($_) } peek($node, 's', streaming => 'on'))) ],
	[ sort(applied(map { decode_json($_) } @off)) ],
	'savepoints behind messages: and what a consumer of streaming=on keeps');

get($node, 's');

# a message that fills the block is decoded before the next record is read
$node->safe_psql('postgres', q{
	BEGIN;
	SELECT fill(200001, 200010), say(repeat('long ', 20000));
	SAVEPOINT a;
	SELECT fill(200101, 200600);
	ROLLBACK TO a;
	SELECT say(repeat('long ', 20000));
	SAVEPOINT b;
	SELECT fill(200101, 200600);
	COMMIT;
});
@off = sort(peek($node, 's', streaming => 'off'));
is(scalar(grep { /"op":"message"/ } @off), 2, 'a message that ends a block: once each');
is_deeply([ sort(peek($node, 's')) ], \@off, 'a message that ends a block: reorder has what off has');
is_deeply(
	[ sort(applied(map { decode_json($_) } peek($node, 's', streaming => 'on'))) ],
	[ sort(applied(map { decode_json($_) } @off)) ],
	'a message that ends a block: and what a consumer of streaming=on keeps');
get($node, 's');

# --- more than the server reads back at once ------------------------------------------

# Once a subtransaction has been spilled, the server forgets that it streamed it,
# if that took more than one read of 4096 changes, and doesn't tell of its end.
$node->safe_psql('postgres', q{
	CREATE TABLE big (id int, v bytea);
	ALTER TABLE big ALTER v SET STORAGE EXTERNAL;
	CREATE FUNCTION bytes(n int) RETURNS bytea LANGUAGE sql AS
		$$SELECT string_agg(sha256(i::text::bytea), '') FROM generate_series(1, n) i$$;
	INSERT INTO big VALUES (0, bytes(1000));
	BEGIN;
	INSERT INTO t VALUES (300001, 'kept', 'f');
	SAVEPOINT a;
		-- a row is streamed when it is complete, until then it is spilled
		INSERT INTO big VALUES (1, bytes(300000));
	ROLLBACK TO a;
	INSERT INTO t VALUES (300002, 'kept', 'f');
	COMMIT;
});
@plain = same_as_plain('a spilled row');
is(scalar(grep { /"op":"insert"/ } @plain), 3, 'a spilled row: what was committed');
get($node, 's');

# what was decoded before the slot's position is spilled, not streamed
my $writer = CppOutput::Faults::Session->new($node);
$writer->query(q{BEGIN; INSERT INTO t VALUES (400000, 'kept', 'f'); SAVEPOINT a; SELECT fill(400001, 406000)});
$node->safe_psql('postgres', q{INSERT INTO t VALUES (-6, 'other', 'f')});
get($node, 's');
$node->safe_psql('postgres', q{INSERT INTO t VALUES (-7, 'other', 'f')});
$writer->query(q{SELECT fill(406001, 406001); ROLLBACK TO a; INSERT INTO t VALUES (406002, 'kept', 'f'); COMMIT});
$writer->end;
@plain = same_as_plain('spilled before the restart');
is(scalar(grep { /"op":"insert"/ } @plain), 3, 'spilled before the restart: what was committed');

$node->stop;
done_testing();
