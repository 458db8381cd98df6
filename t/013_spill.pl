# Temporary files of transactions in progress: they are bounded, they say what
# they belong to when they fail, and none is left behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

my %small = ('reorder-work-mem' => '64kB', 'spill-compression' => 'off');
my $dir = PostgreSQL::Test::Utils::tempdir;

my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\nwal_sender_timeout = 0\n");
create_slot($node, 's');
create_slot($node, 'wire');
create_slot($node, 'prepared', two_phase => 1);
$node->safe_psql('postgres', q{
	CREATE TABLE t (id bigserial PRIMARY KEY, v text);
	CREATE FUNCTION fill(n int) RETURNS void LANGUAGE sql AS
		$$INSERT INTO t (v) SELECT repeat(md5(i::text), 20) FROM generate_series(1, n) i$$;
});

# --- files come and go with their transactions --------------------------------

my $file = "$dir/wire";
my $client = start_client($node, 'wire', $file, {%small});
wait_for_slot_use($node, 'wire');

my @sessions = map { CppOutput::Faults::Session->new($node) } 1 .. 3;
for my $session (@sessions)
{
	$session->query('BEGIN; SELECT fill(3000)');
}
wait_until(sub { temp_files($node) == 3 }, 'a file for each of three transactions');
pass('each large transaction has one file');
$sessions[0]->query('COMMIT');
wait_until(sub { temp_files($node) == 2 }, 'one file to go');
pass('the file goes with COMMIT');
$sessions[1]->query('ROLLBACK');
wait_until(sub { temp_files($node) == 1 }, 'another file to go');
pass('the file goes with ROLLBACK');
$sessions[2]->query("SAVEPOINT a; SELECT fill(3000); ROLLBACK TO a; SELECT fill(10); PREPARE TRANSACTION 'p'");
$sessions[2]->query("COMMIT PREPARED 'p'");
wait_until(sub { temp_files($node) == 0 }, 'the last file to go');
pass('the file goes with COMMIT PREPARED');

my @expected = peek($node, 's', streaming => 'off');
is(scalar(@expected), 3000 + 3010 + 4, 'what was committed');
# PREPARE writes an empty transaction of its own on some versions
wait_until(sub { scalar(lines_of($file)) >= @expected }, 'all lines');
is_deeply([ lines_of($file) ], \@expected, 'the client has just that');

# --- transactions that are unwanted as a whole only at their COMMIT --------------

$node->safe_psql('postgres', "SELECT pg_replication_origin_create('elsewhere')");
create_slot($node, 'local');
my $local = start_client($node, 'local', "$dir/local", { %small, origin => 'none' });
wait_for_slot_use($node, 'local');
my $replicated = CppOutput::Faults::Session->new($node);
for my $prepare ('', "PREPARE TRANSACTION 'q';")
{
	my $commit = $prepare ? "COMMIT PREPARED 'q'" : 'COMMIT';
	$replicated->query("BEGIN; SELECT fill(3000); $prepare");
	wait_until(sub { temp_files($node) == 2 }, 'files of both clients');
	$replicated->query("SELECT pg_replication_origin_session_setup('elsewhere'); $commit; SELECT pg_replication_origin_session_reset()");
	wait_until(sub { temp_files($node) == 0 }, "the files to go with the $commit of another origin");
	pass("the file goes with the $commit of another origin");
}
$replicated->end;
send_signal('KILL', $local->{pid});
eval { $local->{run}->finish };
wait_until_unused($node, 'local');
drop_slot($node, 'local');

my @prepared = peek($node, 'prepared', %small);
is_deeply(\@prepared, [ peek($node, 'prepared', streaming => 'off') ], 'a prepared transaction from a file');
is_deeply([ temp_files($node) ], [], 'whose file is gone');

# --- a client that goes away ---------------------------------------------------

$sessions[0]->query('BEGIN; SELECT fill(3000)');
wait_until(sub { temp_files($node) == 1 }, 'a file');
send_signal('KILL', $client->{pid});
eval { $client->{run}->finish };
$sessions[0]->query('SELECT fill(3000)');    # something to be sent
wait_until_unused($node, 'wire');
wait_until(sub { temp_files($node) == 0 }, 'the file to go');
pass('no file is left of a lost client');
$sessions[0]->query('ROLLBACK');

$file = "$dir/terminated";
$client = start_client($node, 'wire', $file, {%small});
my $pid = wait_for_slot_use($node, 'wire');
$sessions[0]->query('BEGIN; SELECT fill(3000)');
wait_until(sub { temp_files($node) == 1 }, 'a file');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
$client->{run}->finish;
like(${ $client->{stderr} }, qr/terminat/, 'the client is told');
wait_until_unused($node, 'wire');
is_deeply([ temp_files($node) ], [], 'no file is left of a terminated walsender');
$sessions[0]->query('ROLLBACK');

# --- temp_file_limit ------------------------------------------------------------

$node->safe_psql('postgres', 'SELECT fill(3000); SELECT fill(1)');
@expected = peek($node, 's', streaming => 'off');
for my $compression ('off', 'lz4', 'zstd')
{
	my $options = "'reorder-work-mem', '64kB', 'spill-compression', '$compression'";
	my $session = CppOutput::Faults::Session->new($node);
	$session->query("SET temp_file_limit = '48kB'; SELECT * FROM pg_logical_slot_peek_changes('s', NULL, NULL, $options)");
	my $said = $session->{said};
	if ($said =~ /this build of cpp_output has no $compression/)
	{
		note $said;
		next;
	}
	like($said, qr/ERROR:.*temp_file_limit/, "$compression: temp_file_limit holds");
	my ($xid, $bytes) = $said =~ /temporary file of transaction (\d+), slot "s", (\d+) bytes at offset \d+/;
	ok($xid, "$compression: the error names transaction, slot and bytes") or diag($said);
	my $known = grep { decode_json($_)->{op} eq 'begin' && decode_json($_)->{xid} eq ($xid || '') } @expected;
	is($known, 1, "$compression: and that is a transaction of the stream");
	is_deeply([ temp_files($node) ], [], "$compression: no file after the error");
	# the same session, and so the same process, has the limit's whole room again
	$session->query("SET temp_file_limit = '100MB'");
	is($session->query("SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL, $options)"),
		scalar(@expected), "$compression: the slot goes on where there is room");
	$session->end;
}

$client = start_client($node, 'wire', "$dir/limited", {%small},
	env => { PGOPTIONS => '-c temp_file_limit=100kB' });
$client->{run}->finish;
like(${ $client->{stderr} }, qr/temp_file_limit.*slot "wire"/s, 'walsender: the client learns of the limit');
wait_until_unused($node, 'wire');
is_deeply([ temp_files($node) ], [], 'walsender: no file after the error');

# --- writes that fail -------------------------------------------------------------

SKIP:
{
	skip 'no prlimit', 4 if system('prlimit --version >/dev/null 2>&1') != 0;
	my $session = CppOutput::Faults::Session->new($node);
	my $backend = $session->query('SELECT pg_backend_pid()');
	my $query = "SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL, 'reorder-work-mem', '64kB', 'spill-compression', 'off')";
	system('prlimit', "--pid=$backend", '--fsize=200000:unlimited') == 0 or die 'prlimit';
	$session->query($query);
	like($session->{said}, qr/could not write to temporary file.*writing to temporary file of transaction \d+, slot "s"/s,
		'a write that fails names transaction and slot');
	is_deeply([ temp_files($node) ], [], 'no file after a write that failed');
	$session->query("DO \$\$ BEGIN PERFORM ($query); EXCEPTION WHEN OTHERS THEN NULL; END \$\$");
	is($session->{said}, '', 'an exception block catches it');
	system('prlimit', "--pid=$backend", '--fsize=unlimited:unlimited') == 0 or die 'prlimit';
	is($session->query($query), scalar(@expected), 'the session goes on when it can write');
	$session->end;
}

# the slot has lost nothing by all of this
my @sent = recvlogical($node, 'wire');
cmp_ok(scalar(@sent), '>=', 3005, 'the walsender sends it all in the end');
is_deeply(\@sent, [ @expected[ -@sent .. -1 ] ], 'all from some point on, that is');
is_deeply([ get($node, 's', %small) ], \@expected, 'and so does SQL');
$_->end for @sessions;
$node->stop;

# --- a full disk --------------------------------------------------------------------

# A tmpfs in place of base/pgsql_tmp, mounted in a user namespace of its own.
SKIP:
{
	my $data = $node->data_dir;
	my $log = $node->logfile;
	my $small_disk = "$data/base/pgsql_tmp";
	-d $small_disk or mkdir $small_disk or die "mkdir: $!";
	my @in_namespace = ('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c');
	my $mount = "mount -t tmpfs -o size=1m tmpfs '$small_disk'";
	my $as_user = sprintf 'unshare --user --map-user=%d --map-group=%d', $<, $( + 0;
	skip 'no user namespaces here: no small disk', 6
	  if system(@in_namespace, "$mount && $as_user true") != 0;

	is(system(@in_namespace, "$mount && $as_user pg_ctl -D '$data' -l '$log' -w start >/dev/null"),
		0, 'a server with a small disk');
	$node->_update_pid(1);
	$node->safe_psql('postgres', 'SELECT fill(6000)');
	my $session = CppOutput::Faults::Session->new($node);
	$session->query("SET work_mem = '64MB'");
	my $query = "SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL, 'spill-compression', 'off'";
	for my $try (1, 2)
	{
		$session->query("$query, 'reorder-work-mem', '64kB')");
		like($session->{said},
			qr/ERROR:\s+could not write to temporary file.*No space left on device.*transaction \d+, slot "s"/s,
			"try $try: the error about a full disk");
		is_deeply([ temp_files($node) ], [], "try $try: no file after the error");
	}
	is($session->query("$query, 'reorder-work-mem', '64MB')"), 6002, 'the slot goes on where it has room');
	$session->end;
	$node->stop;
}

done_testing();
