# The same stream through SQL, pg_recvlogical and psycopg2, and as a drop-in.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Test;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main');
create_slot($node, 'sql');
create_slot($node, 'recvlogical');
create_slot($node, 'psycopg2');
create_slot($node, 'peer', plugin => 'test_decoding');

$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, v text);
	INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 300) i;
	BEGIN;
	UPDATE t SET v = 'changed' WHERE id = 1;
	SAVEPOINT s;
	DELETE FROM t;
	ROLLBACK TO s;
	SELECT pg_logical_emit_message(true, 'prefix', 'content');
	COMMIT;
	SELECT pg_logical_emit_message(false, 'prefix', 'on its own');
	TRUNCATE t;
});

for my $format ('json', 'test_decoding')
{
	my @expected = peek($node, 'sql', format => $format);
	cmp_ok(scalar(@expected), '>', 300, "$format: there are changes");
	is(scalar(grep { /delete/i } @expected), 0, "$format: nothing of the rolled back savepoint");
	next if $format eq 'json';
	is_deeply(\@expected, [ peek($node, 'peer') ], "$format: as the peer prints it");
}

my @json = get($node, 'sql');
is_deeply([ recvlogical($node, 'recvlogical') ], \@json, 'pg_recvlogical receives the same');
is_deeply([ consume($node, 'psycopg2', { format => 'json' }) ], \@json, 'psycopg2 receives the same');

my %seen;
$seen{ decode_json($_)->{op} }++ for @json;
is_deeply(
	[ @seen{qw(insert update truncate message)} ],
	[ 300, 1, 1, 2 ],
	'every line is an object with the operation');
is($seen{begin}, $seen{commit}, 'each transaction begins and ends');

# what was read is not sent again
is_deeply([ recvlogical($node, 'recvlogical') ], [], 'pg_recvlogical has confirmed');
is_deeply([ consume($node, 'psycopg2', {}) ], [], 'psycopg2 has confirmed');

# an existing slot goes on under the peer's name
my $drop_in = PostgreSQL::Test::Utils::tempdir;
symlink("$CppOutput::Test::library_dir/cpp_output.so", "$drop_in/test_decoding.so") or die "symlink: $!";
my $query = slot_sql('peek', 'peer', 'include-timestamp' => 'on');
is( $node->safe_psql('postgres', "SET dynamic_library_path = '$drop_in:\$libdir'; $query"),
	$node->safe_psql('postgres', $query),
	'loaded as test_decoding, the library reads the slot of test_decoding');

$node->stop;
done_testing();
