# Decoding on a standby: what its walsender sends while WAL is replayed is what
# the primary sends of the same transactions.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_node('primary', streaming => 1, conf => "logical_decoding_work_mem = '64kB'\nautovacuum = off\n");
if (server_major($primary) < 16)
{
	$primary->stop;
	plan skip_all => 'standbys decode since PostgreSQL 16';
}

# --- a standby with a slot of its own ---------------------------------------------

$primary->safe_psql('postgres', "SELECT pg_create_physical_replication_slot('standby', true)");
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nprimary_slot_name = 'standby'\nwal_receiver_status_interval = 1\n");
$standby->start;

$primary->safe_psql('postgres', 'CREATE TABLE t (id bigserial PRIMARY KEY, part text, v text)');
# creating it waits for a record that the primary has to write
my $creating = CppOutput::Faults::Session->new($standby);
$creating->start("SELECT pg_create_logical_replication_slot('s', 'cpp_output')");
wait_until(sub {
	$standby->safe_psql('postgres', "SELECT count(*) FROM pg_replication_slots WHERE slot_name = 's' AND restart_lsn IS NOT NULL") },
	'the slot to wait for the primary');
$primary->safe_psql('postgres', 'SELECT pg_log_standby_snapshot()');
$creating->finish;
is($creating->{said}, '', 'a slot on the standby');
$creating->end;
create_slot($primary, 'p');

# --- the same stream, live --------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir;
my %options = (streaming => 'reorder', 'reorder-work-mem' => '64kB');
my $client = start_client($standby, 's', "$dir/live", \%options);
wait_for_slot_use($standby, 's');

# Transactions of many subtransactions, every third of which is rolled back.
my $transaction = sub {
	my ($number) = @_;
	my $sql = "INSERT INTO t (part, v) SELECT 'top $number', repeat(md5(i::text), 20) FROM generate_series(1, 200) i;";
	for my $n (1 .. 90)
	{
		$sql .= "SAVEPOINT a; INSERT INTO t (part, v) VALUES ('$n of $number', repeat('x', 100));";
		$sql .= $n % 3 ? 'RELEASE a;' : 'ROLLBACK TO a;';
	}
	return "BEGIN; $sql " . ($number % 5 ? 'COMMIT' : 'ROLLBACK');
};
my @writers = map { CppOutput::Faults::Session->new($primary) } 1 .. 2;
for my $round (1 .. 10)
{
	$writers[$_]->start($transaction->(2 * $round + $_)) for 0, 1;
	$_->finish for @writers;
}
$_->end for @writers;

my @expected = peek($primary, 'p', streaming => 'off');
is(scalar(grep { /"op":"insert"/ } @expected), 16 * (200 + 60), 'what was committed');
wait_until(sub { scalar(lines_of("$dir/live")) >= @expected }, 'all lines from the standby');
is_deeply([ lines_of("$dir/live") ], \@expected, 'the standby sends what the primary sends');
send_signal('KILL', $client->{pid});
eval { $client->{run}->finish };
wait_until_unused($standby, 's');

# --- and from its start, when all is over ------------------------------------------

for my $streaming ('off', 'reorder')
{
	my @got = peek($standby, 's', %options, streaming => $streaming);
	is_deeply([ @got ], [ @expected[ @expected - @got .. $#expected ] ],
		"streaming=$streaming: the standby's SQL functions give what was not confirmed");
}

$standby->stop;
$primary->stop;
done_testing();
