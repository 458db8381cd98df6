# Processes that are killed, clients that stop reading, restarts: a transaction
# arrives once and whole, and no file stays.

use strict;
use warnings;

use FindBin;
use POSIX qw(mkfifo);
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use PostgreSQL::Test::Utils;
use Test::More;

my %small = ('reorder-work-mem' => '64kB', 'spill-compression' => 'off');
my $dir = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('main', conf => q{
logical_decoding_work_mem = '64kB'
restart_after_crash = on
});
create_slot($node, 's');
create_slot($node, 'reference');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id bigserial PRIMARY KEY, v text);
	CREATE FUNCTION fill(n int) RETURNS void LANGUAGE sql AS
		$$INSERT INTO t (v) SELECT repeat(md5(i::text), 20) FROM generate_series(1, n) i$$;
});

sub wait_for_server
{
	wait_until(sub { ($node->psql('postgres', 'SELECT 1'))[0] == 0 }, 'the server');
	return;
}

sub client
{
	my ($name, %params) = @_;
	unlink "$dir/$name";
	my $client = start_client($node, 's', "$dir/$name", {%small}, %params);
	$client->{walsender} = wait_for_slot_use($node, 's');
	return $client;
}

sub gone
{
	my ($client) = @_;
	eval { kill 'CONT', $client->{pid}; kill 'KILL', $client->{pid}; $client->{run}->finish };
	return;
}

# All that was committed up to now, by the slot whose reader nobody disturbs.
my @all;

sub expect_rest
{
	my ($what, @files) = @_;
	push @all, get($node, 'reference', streaming => 'off');
	my @got = recvlogical($node, 's', %small);
	cmp_ok(scalar(@got), '>', 0, "$what: there is something to get");
	is_deeply(\@got, [ @all[ -@got .. -1 ] ], "$what: all of it, from some transaction on");
	like($got[0], qr/"op":"begin"/, "$what: which is whole");
	is_deeply([ temp_files($node) ], [], "$what: no file");
	return;
}

# --- the walsender is killed while it spills ----------------------------------

my $client = client('spilling');
my $session = CppOutput::Faults::Session->new($node);
$session->query('BEGIN; SELECT fill(5000)');
wait_until(sub { temp_files($node) > 0 }, 'a file');
send_signal('KILL', $client->{walsender});
$session->{run}->kill_kill;
gone($client);
wait_for_server();
is_deeply([ temp_files($node) ], [], 'killed while spilling: the server has removed the file');
is_deeply([ lines_of("$dir/spilling") ], [], 'killed while spilling: nothing was sent');
$node->safe_psql('postgres', 'SELECT fill(10)');
expect_rest('killed while spilling');

# --- and while it replays --------------------------------------------------------

# a client that is stopped when it has received a part of the transaction: its
# file is a pipe that nobody reads, so it cannot get further than that on a fast
# machine either
sub stopped_in_replay
{
	my ($name) = @_;
	mkfifo("$dir/$name", 0600) or die "cannot make a pipe: $!";
	# open at both ends, or the client would wait for somebody to read
	open my $pipe, '+<', "$dir/$name" or die "cannot open the pipe: $!";
	my $client = start_client($node, 's', "$dir/$name", {%small});
	$client->{walsender} = wait_for_slot_use($node, 's');
	$client->{pipe} = $pipe;
	$node->safe_psql('postgres', 'SELECT fill(25000)');
	like(scalar(<$pipe>), qr/"op":"begin"/, "$name: the client has received a part");
	send_signal('STOP', $client->{pid});
	return $client;
}

$client = stopped_in_replay('replaying');
is(scalar(temp_files($node)), 1, 'the file is there during the replay');
send_signal('KILL', $client->{walsender});
gone($client);
wait_for_server();
expect_rest('killed while replaying');

# --- a client that stops reading -------------------------------------------------

$node->append_conf('postgresql.conf', "wal_sender_timeout = 1000\n");
$node->reload;
my $position = log_position($node);
$client = stopped_in_replay('not reading');
wait_for_log($node, qr/terminating walsender process due to replication timeout/, $position);
wait_until_unused($node, 's');
is_deeply([ temp_files($node) ], [], 'not reading: no file is left');
gone($client);
expect_rest('not reading');

# --- a client that disconnects in the middle ---------------------------------------

$client = stopped_in_replay('disconnected');
gone($client);
wait_until_unused($node, 's');
expect_rest('disconnected');

# --- a transaction that takes longer than the timeout --------------------------------

$position = log_position($node);
$client = client('long');
$session = CppOutput::Faults::Session->new($node);
$session->query('BEGIN');
$session->query('SELECT fill(500), pg_sleep(0.5)') for 1 .. 6;
is(walsender_pid($node, 's'), $client->{walsender}, 'the walsender outlives its timeout while it buffers');
$session->query('COMMIT');
wait_until(sub { my @lines = lines_of("$dir/long"); @lines && $lines[-1] =~ /"op":"commit"/ }, 'the COMMIT');
push @all, get($node, 'reference', streaming => 'off');
my @lines = lines_of("$dir/long");
is_deeply(\@lines, [ @all[ -3002 .. -1 ] ], 'and sends it all');
gone($client);
wait_until_unused($node, 's');

# one that is filtered out altogether; complete, so that it is decoded in one go
for my $filter ('exclude-tables', 'tables', 'actions')
{
	my $value = { 'exclude-tables' => 'public.*', tables => 'public.nosuch', actions => 'truncate' }->{$filter};
	create_slot($node, 'filtered');
	$node->safe_psql('postgres', 'INSERT INTO t (v) SELECT i FROM generate_series(1, 300000) i');
	my $now = log_position($node);
	local $ENV{PGOPTIONS} = '-c wal_sender_timeout=200';
	is_deeply([ recvlogical($node, 'filtered', $filter => $value, streaming => 'off') ],
		[], "$filter: nothing of a long transaction");
	unlike(slurp_file($node->logfile, $now), qr/replication timeout/, "$filter: and no timeout");
	drop_slot($node, 'filtered');
}
unlike(slurp_file($node->logfile, $position), qr/replication timeout/, 'no timeout in all this time');
get($node, 'reference', tables => 'public.nosuch');
get($node, 's', tables => 'public.nosuch');
@all = ();

# --- restarts ---------------------------------------------------------------------

for my $mode ('fast', 'immediate')
{
	$client = client("restart $mode");
	# goes on over the restart, as a prepared transaction does
	$session->query("BEGIN; SELECT fill(2000)");
	wait_until(sub { temp_files($node) > 0 }, 'a file');
	my $other = CppOutput::Faults::Session->new($node);
	$other->query('BEGIN; SELECT fill(2000)');
	$session->query("PREPARE TRANSACTION 'over'");
	$node->stop($mode);
	gone($client);
	$other->{run}->kill_kill;
	$session->{run}->kill_kill;
	$node->start;
	is_deeply([ temp_files($node) ], [], "restart $mode: no file");
	# a crash before may have made the slot forget what was confirmed
	my %committed = map { $_ => 1 } @all;
	is_deeply([ grep { !$committed{$_} } lines_of("$dir/restart $mode") ],
		[], "restart $mode: nothing was sent before its COMMIT");
	$client = client("restarted $mode");
	$node->safe_psql('postgres', "COMMIT PREPARED 'over'");
	$node->safe_psql('postgres', 'SELECT fill(3)');
	push @all, get($node, 'reference', streaming => 'off');
	my @restarted;
	wait_until(
		sub {
			@restarted = lines_of("$dir/restarted $mode");
			return @restarted && $restarted[-1] eq $all[-1];
		},
		'both transactions');
	# what a crash made the slot forget comes again, and nothing else
	cmp_ok(scalar(@restarted), $mode eq 'fast' ? '==' : '>=', 2007, "restart $mode: both transactions");
	is_deeply(\@restarted, [ @all[ -@restarted .. -1 ] ], "restart $mode: nothing twice, nothing lost");
	$client->{run}->signal('INT');
	eval { $client->{run}->finish };
	wait_until_unused($node, 's');
	is_deeply([ temp_files($node) ], [], "restart $mode: no file at the end");
	$session = CppOutput::Faults::Session->new($node);
}
$session->end;

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|leak/, 'the log has no PANIC, failed assertion or leak');
$node->stop;
done_testing();
