# What is on the wire of the walsender, where messages are sent in batches: the
# frames are those that the server makes, and the reader is listened to.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use PostgreSQL::Test::Utils;
use Test::More;

# small buffers, so that the reorder layer and the server's streaming take part
my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\nautovacuum = off\nwal_sender_timeout = '5min'\n");
my $json = JSON::PP->new->utf8->canonical;
my $user = $node->safe_psql('postgres', 'SELECT current_user');

# One scenario of replication.py, for its output or its result.
sub replication_output
{
	my ($scenario, $slot, $options, @arguments) = @_;
	my @command = (
		'/usr/bin/python3', "$CppOutput::Test::root/t/replication.py", $scenario,
		'--host' => $node->host, '--port' => $node->port,
		'--user' => $user,
		'--slot' => $slot, '--options' => $json->encode($options), @arguments);
	my ($stdout, $stderr);
	IPC::Run::run(\@command, '>', \$stdout, '2>', \$stderr) or die "replication.py $scenario: $stderr";
	return $stdout;
}

sub replication { return $json->decode(replication_output(@_)) }

# [dataStart, walEnd, message] of each frame, and whether the times were in order.
sub frames
{
	my @frames = map { [ split /\x1f/, $_, 3 ] } split /\x1e/, replication_output('frames', @_);
	my $last = pop @frames;
	return (\@frames, $last->[0] eq 'in order');
}

# [lsn, data] of a slot through SQL, which stays as it is.
sub rows
{
	my ($slot, %options) = @_;
	my $query = CppOutput::Test::slot_sql('peek', $slot, %options) =~ s/^SELECT data/SELECT lsn - '0\/0', data/r;
	my $out = $node->safe_psql('postgres', $query, extra_params => [ '-R', "\x1e", '-F', "\x1f" ]);
	return [ map { [ split /\x1f/, $_, 2 ] } split /\x1e/, $out ];
}

sub first_difference
{
	my ($one, $two) = @_;
	for my $i (0 .. (@$one > @$two ? $#$one : $#$two))
	{
		my ($a, $b) = map { defined $_->[$i] ? join ' ', @{ $_->[$i] } : 'nothing' } $one, $two;
		return "$i: " . substr($a, 0, 200) . "\n   " . substr($b, 0, 200) if $a ne $b;
	}
	return '';
}

sub same
{
	my ($name, $got, $expected) = @_;
	is(first_difference($got, $expected), '', $name);
	return;
}

# --- frames ----------------------------------------------------------------------

my $has_wal2json = -e $node->config_data('--pkglibdir') . '/wal2json.so';
create_slot($node, 'ours');
create_slot($node, 'ours2p', two_phase => 1);
create_slot($node, 'test_decoding', plugin => 'test_decoding');
create_slot($node, 'test_decoding2p', plugin => 'test_decoding', two_phase => 1);
create_slot($node, 'wal2json', plugin => 'wal2json') if $has_wal2json;

$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, v text);
	CREATE TABLE filtered (id int PRIMARY KEY);
	INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 20) i;
});
$node->safe_psql('postgres', q{
	-- more messages than a batch has, and in another more bytes
	INSERT INTO t SELECT i, 'x' FROM generate_series(1001, 2000) i;
	BEGIN;
	UPDATE t SET v = repeat('wide ', 500) WHERE id > 1880;
	SAVEPOINT s;
	DELETE FROM t;
	ROLLBACK TO s;
	SELECT pg_logical_emit_message(true, 'prefix', repeat('m', 100000));
	INSERT INTO filtered SELECT generate_series(1, 1000);
	DELETE FROM t WHERE id > 1900;
	COMMIT;
	SELECT pg_logical_emit_message(false, 'prefix', 'on its own');
	INSERT INTO filtered VALUES (0);
	-- empty for the plugins
	BEGIN; CREATE TABLE empty (id int); COMMIT;
	UPDATE t SET v = 'small' WHERE id = 1;
	TRUNCATE filtered;
	BEGIN; INSERT INTO t VALUES (5000, 'prepared'); PREPARE TRANSACTION 'one'; COMMIT PREPARED 'one';
	BEGIN; INSERT INTO t SELECT i, 'prepared' FROM generate_series(6001, 6600) i; PREPARE TRANSACTION 'two'; COMMIT PREPARED 'two';
	BEGIN; INSERT INTO t VALUES (5001, 'prepared'); PREPARE TRANSACTION 'three'; ROLLBACK PREPARED 'three';
});
my $until = wal_position($node);

my %w2j = (format => 'wal2json');
# slot, options, the same for the peer (or undef)
my @combinations = (
	[ 'ours', { format => 'json', streaming => 'off' } ],
	[ 'ours', { format => 'json', streaming => 'reorder' } ],
	[ 'ours', { format => 'json', streaming => 'reorder', 'reorder-work-mem' => '64kB', 'include-xids' => 'on' } ],
	[ 'ours', { format => 'json', streaming => 'on' } ],
	[ 'ours', { format => 'json', streaming => 'off', 'exclude-tables' => 'public.filtered' } ],
	[ 'ours', { format => 'json', streaming => 'reorder', 'exclude-tables' => 'public.t' } ],
	[ 'ours2p', { format => 'json', streaming => 'off' } ],
	[ 'ours2p', { format => 'json', streaming => 'reorder' } ],
	[ 'ours', { format => 'test_decoding' }, {} ],
	[ 'ours', { format => 'test_decoding', streaming => 'reorder' }, {} ],
	[ 'ours', { format => 'test_decoding', 'skip-empty-xacts' => '1' }, { 'skip-empty-xacts' => '1' } ],
	[ 'ours', { format => 'test_decoding', 'skip-empty-xacts' => '1', streaming => 'reorder' }, { 'skip-empty-xacts' => '1' } ],
	[ 'ours', { format => 'test_decoding', 'stream-changes' => '1' }, { 'stream-changes' => '1' } ],
	[ 'ours', { format => 'test_decoding', 'stream-changes' => '1', 'skip-empty-xacts' => '1' },
		{ 'stream-changes' => '1', 'skip-empty-xacts' => '1' } ],
	[ 'ours2p', { format => 'test_decoding' }, {} ],
	[ 'ours2p', { format => 'test_decoding', 'skip-empty-xacts' => '1', streaming => 'reorder' }, { 'skip-empty-xacts' => '1' } ],
	[ 'ours', { %w2j, 'format-version' => '1', 'include-lsn' => '1' }, { 'format-version' => '1', 'include-lsn' => '1' } ],
	[ 'ours', { %w2j, 'format-version' => '1', streaming => 'reorder' }, { 'format-version' => '1' } ],
	[ 'ours', { %w2j, 'format-version' => '1', 'write-in-chunks' => '1' }, { 'format-version' => '1', 'write-in-chunks' => '1' } ],
	[ 'ours', { %w2j, 'format-version' => '1', 'write-in-chunks' => '1', streaming => 'reorder' },
		{ 'format-version' => '1', 'write-in-chunks' => '1' } ],
	[ 'ours', { %w2j, 'format-version' => '2' }, { 'format-version' => '2' } ],
	[ 'ours', { %w2j, 'format-version' => '2', streaming => 'reorder' }, { 'format-version' => '2' } ],
	[ 'ours', { %w2j, 'format-version' => '2', 'include-empty-transaction' => '0' }, undef ],
);
my %peers;
my $ahead = 0;
for (@combinations)
{
	my ($slot, $options, $peer_options) = @$_;
	my $name = join ' ', $slot, map { "$_=$options->{$_}" } sort keys %$options;
	my ($frames, $in_order) = frames($slot, $options, '--until' => $until);
	cmp_ok(scalar(@$frames), '>', 10, "$name: there are frames");
	ok($in_order, "$name: each has the time when it was sent");
	my @uneven = grep { $_->[0] ne $_->[1] } @$frames;
	is(scalar(@uneven), 0, "$name: dataStart is walEnd");

	# A message that is not the last write of its callback has no LSN, such as a
	# BEGIN that was held back until there was a change.
	my @without = grep { $_->[0] eq '0' } @$frames;
	$ahead += @without;
	my @wrong = grep { $_->[2] !~ /^BEGIN|^opening a streamed|^\{"op":"(begin|stream_start)|^\{"action":"B"|^\{"change":\[$/ } @without;
	is(scalar(@wrong), 0, "$name: only a BEGIN may have no LSN") or diag(substr $wrong[0][2], 0, 200);
	my $expected = rows($slot, %$options);
	# The server writes a frame's LSN when a message is begun, and SQL has the one
	# of its end; a transaction in one message ends at its COMMIT.
	if ($options->{format} eq 'wal2json' && $options->{'format-version'} eq '1' && !$options->{'write-in-chunks'})
	{
		$_->[0] = 0 for @$expected;
	}
	$_ < @$expected && (!$expected->[$_][0] || $frames->[$_][0] eq '0') and $expected->[$_][0] = $frames->[$_][0] for 0 .. $#$frames;
	same("$name: LSNs and messages are those of SQL", [ map { [ @$_[ 0, 2 ] ] } @$frames ], $expected);

	next unless $peer_options;
	my $peer = ($options->{format} . ($slot =~ /2p/ ? '2p' : ''));
	next if $peer eq 'wal2json' && !$has_wal2json;
	my $theirs = $peers{ $peer . $json->encode($peer_options) } //= (frames($peer, $peer_options, '--until' => $until))[0];
	# its message outside of a transaction begins with a comma
	my @theirs = map { [ @$_[ 0, 1 ], $_->[2] =~ s/^\{"change":\[,/{"change":[/r ] } @$theirs;
	same("$name: frames are the peer's, whose messages the server flushes one by one", $frames, \@theirs);
}
cmp_ok($ahead, '>', 0, 'some messages had no LSN');

# --- an end position --------------------------------------------------------------

for my $options ({ format => 'json', streaming => 'off' }, { format => 'json', streaming => 'reorder' },
	{ format => 'test_decoding' }, { %w2j, 'format-version' => '2' })
{
	my $name = join ' ', map { "$_=$options->{$_}" } sort keys %$options;
	my $rows = rows('ours', %$options);
	# in the middle of the large transaction, on a message and between two; and
	# at the end of it
	my ($large) = grep { $rows->[$_][1] =~ /wide wide/ } 0 .. $#$rows;
	my $lsn = $rows->[ $large + 100 ][0];
	for my $endpos ($lsn, $lsn + 1, $rows->[-1][0])
	{
		my $endpos_text = sprintf '%X/%X', $endpos >> 32, $endpos & 0xffffffff;
		my @expected;
		for my $row (@$rows)
		{
			last if $row->[0] > $endpos;
			push @expected, $row->[1];
			last if $row->[0] == $endpos;
		}
		# a slot that may move
		$node->safe_psql('postgres', q{SELECT pg_copy_logical_replication_slot('ours', 'copy')});
		my $out = $node->pg_recvlogical_upto('postgres', 'copy', $endpos_text, $PostgreSQL::Test::Utils::timeout_default, %$options);
		is(join("\n", split /\n/, $out), join("\n", @expected), "$name: pg_recvlogical ends at $endpos_text");
		wait_until_unused($node, 'copy');
		drop_slot($node, 'copy');
	}
}
drop_slot($node, $_)
  for grep { $_ ne 'wal2json' || $has_wal2json } 'ours', 'ours2p', 'test_decoding', 'test_decoding2p', 'wal2json';

# --- replies in the middle of a transaction ----------------------------------------

create_slot($node, 'small_messages');
create_slot($node, 'wide_messages');
$node->safe_psql('postgres', q{INSERT INTO t VALUES (8000, 'earlier')});
my $earlier = wal_position($node);
# far more than the sockets' buffers take
$node->safe_psql('postgres', q{INSERT INTO t SELECT i, repeat('small ', 20) FROM generate_series(100001, 200000) i});

for my $options ({ format => 'json', streaming => 'off' }, { format => 'json', streaming => 'reorder', 'reorder-work-mem' => '1MB' },
	{ format => 'test_decoding', 'skip-empty-xacts' => '1' })
{
	my $name = join ' ', map { "$_=$options->{$_}" } sort keys %$options;
	$node->safe_psql('postgres', q{SELECT pg_copy_logical_replication_slot('small_messages', 'copy')});
	my $seen = replication('middle', 'copy', $options, '--until' => $earlier, '--messages' => 5000);
	isnt($seen->{confirmed}, $seen->{before}, "$name: the slot moves");
	is($seen->{confirmed}, $earlier, "$name: ... to what was confirmed in the middle of a transaction");
	cmp_ok($seen->{'keepalive at'} // 1e9, '<', $seen->{'commit at'} - 10_000, "$name: a keepalive is sent on request, long before COMMIT");
	cmp_ok($seen->{'commit at'}, '>', 100_000, "$name: the whole transaction is received");
	wait_until_unused($node, 'copy');
	drop_slot($node, 'copy');
}

# --- memory while the reader is behind ---------------------------------------------

my $MB = 1024 * 1024;
$node->safe_psql('postgres', q{SELECT pg_replication_slot_advance('small_messages', '} . $earlier . q{')});
for my $options ({ format => 'json', streaming => 'off' }, { format => 'json', streaming => 'reorder', 'reorder-work-mem' => '1MB' })
{
	my $name = join ' ', map { "$_=$options->{$_}" } sort keys %$options;
	my $seen = replication('memory', 'small_messages', $options, '--step' => $MB);
	note(explain($seen));
	cmp_ok($seen->{received}, '>', 15 * $MB, "$name: many small messages");
	cmp_ok($seen->{samples}, '>', 5, "$name: the reader was behind each time");
	cmp_ok($seen->{most} - $seen->{start}, '<', 5 * $MB, "$name: the walsender holds a batch, not the transaction");
	wait_until_unused($node, 'small_messages');
}
drop_slot($node, 'small_messages');

drop_slot($node, 'wide_messages');
create_slot($node, 'wide_messages');
$node->safe_psql('postgres', q{
	CREATE TABLE wide (id int, v text);
	ALTER TABLE wide ALTER v SET STORAGE EXTERNAL;
	INSERT INTO wide SELECT i, repeat('wide ', 1024 * 1024) FROM generate_series(1, 25) i;
});
for my $options ({ format => 'json', streaming => 'off' }, { format => 'json', streaming => 'reorder', 'reorder-work-mem' => '1MB' })
{
	my $name = join ' ', map { "$_=$options->{$_}" } sort keys %$options;
	my $seen = replication('memory', 'wide_messages', $options, '--step' => 6 * $MB);
	note(explain($seen));
	cmp_ok($seen->{received}, '>=', 125 * $MB, "$name: messages of 5 MB");
	cmp_ok($seen->{samples}, '>', 5, "$name: the reader was behind each time");
	# the value, the message, and twice that in the server's buffers, which double
	cmp_ok($seen->{most} - $seen->{start}, '<', 60 * $MB, "$name: the walsender holds a few of them");
	wait_until_unused($node, 'wide_messages');
}

# --- time-out ------------------------------------------------------------------------

create_slot($node, 'second');
$node->safe_psql('postgres', q{INSERT INTO t SELECT i, repeat('small ', 10) FROM generate_series(500001, 600000) i});
$node->safe_psql('postgres', q{SELECT pg_replication_slot_advance('wide_messages', (SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'second'))});
$node->safe_psql('postgres', q{ALTER SYSTEM SET wal_sender_timeout = '5s'});
$node->safe_psql('postgres', q{SELECT pg_reload_conf()});
my $from = log_position($node);
my $seen = replication('timeout', 'wide_messages', { format => 'json' }, '--second-slot' => 'second', '--wal-sender-timeout' => '5');
ok($seen->{alive}, 'a client that reads slowly and answers stays');
is($seen->{'read slowly'} + $seen->{'read then'}, 100_002, 'and receives the transaction to its end');
like($seen->{stalled}, qr/closed|reset|timeout/i, 'a client that stops reading is given up');
wait_for_log($node, qr/terminating walsender process due to replication timeout/, $from);
my @given_up = slurp_file($node->logfile, $from) =~ /terminating walsender process due to replication timeout/g;
is(scalar(@given_up), 1, 'only that one');

$node->stop;
done_testing();
