# Options that are wrong are refused by name, before anything is decoded.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use Test::More;

my $node = new_node('main');
create_slot($node, 's');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, v text);
	INSERT INTO t VALUES (1, 'one');
});
my @expected = peek($node, 's');
is(scalar(@expected), 3, 'there is something to decode');

# option, value, what the message has to say besides the option's name
my @wrong = (
	[ 'format', 'nosuch', qr/json, test_decoding/ ],
	[ 'format', '', qr/json, test_decoding/ ],
	[ 'format', 'JSON', qr/json, test_decoding/ ],
	[ 'formt', 'json', qr/unknown.*Perhaps you meant the option "format"/s ],
	[ 'exclude_colums', 'a.b.c', qr/Perhaps you meant the option "exclude-columns"/ ],
	[ 'skip-empty-xacts', 'on', qr/Format test_decoding has this option/ ],
	[ '', 'x', qr/unknown/ ],
	[ 'entirely-different', 'x', qr/cpp_output_options/ ],
	[ 'streaming', 'maybe', qr/off, on, reorder/ ],
	[ 'streaming', '', qr/off, on, reorder/ ],
	(map { [ 'reorder-work-mem', $_, qr/64kB to 1024TB/ ] }
		'12', '1kB', '-1MB', '', 'MB', '64 mb', '1e3MB', '64kB;', '99999999999999999999MB', '1025TB'),
	[ 'spill-compression', 'gzip', qr/off, lz4, zstd/ ],
	(map { [ 'tables', $_, qr/element 1 .* schema\.table/s ] }
		'', ',', 'a', 'a.b.c', 'a..b', '.b', 'a.', 'a.b c', '"a.b', 'a."b', '""."b"', 'a . ', ' ', '"', "a.\"\""),
	[ 'tables', 'a.b,', qr/element 2 / ],
	[ 'exclude-tables', 'a.b,c', qr/element 2 .*too few parts/ ],
	[ 'exclude-columns', 'a.b', qr/too few parts.*schema\.table\.column/s ],
	[ 'exclude-columns', 'a.b.c.d', qr/too many parts/ ],
	[ 'exclude-origins', 'a b', qr/comma is missing/ ],
	[ 'message-prefixes', '', qr/a name is empty/ ],
	[ 'actions', 'insert,,update', qr/insert, update, delete, truncate/ ],
	[ 'actions', 'upsert', qr/insert, update, delete, truncate/ ],
	[ 'actions', '', qr/insert, update, delete, truncate/ ],
	[ 'origin', 'some', qr/any, none/ ],
	[ 'messages', 'maybe', qr/on, off/ ],
	[ 'messages', '', qr/on, off/ ],
	[ 'two-phase', '2', qr/on, off/ ],
	[ 'include-xids', 'o', qr/on, off/ ],
	[ 'numbers-as-string', 'some', qr/off, wide, all/ ],
	[ 'bytea', 'base32', qr/base64, hex/ ]);
for my $case (@wrong)
{
	my ($option, $value, $pattern) = @$case;
	my $error = sql_error($node, slot_sql('get', 's', $option => $value));
	like($error, qr/ERROR:.*option "\Q$option\E"/, "$option=$value: the error names the option");
	like($error, $pattern, "$option=$value: and says what is wrong");
}

# over the wire an option may come without value
sub wire_error
{
	my ($option) = @_;
	my $client = start_client($node, 's', '/dev/null', { $option => undef });
	$client->{run}->finish;
	return ${ $client->{stderr} };
}
for my $option (qw(format streaming reorder-work-mem spill-compression actions origin numbers-as-string))
{
	like(wire_error($option), qr/(option "$option" needs a value|invalid value for option "$option")/,
		"$option without a value");
}
for my $option (qw(tables exclude-tables exclude-columns exclude-origins message-prefixes nosuch))
{
	like(wire_error($option), qr/ERROR:.*option "$option"/, "$option without a value");
}

# long and broken ones
for my $case (
	[ "repeat('x', 1000000), 'y'", qr/option "x{100,300}" = "y" is unknown/ ],
	[ "'format', repeat('x', 1000000)", qr/invalid value for option "format": "x{100,300}"/ ],
	[ "'tables', repeat('a.b,', 250000)", qr/In element 250001 of the list/ ],
	[ "'tables', repeat('\"', 999999)", qr/In element 1 of the list/ ],
	# in the middle of a character of three bytes
	[ "'tables', 'a' || repeat(U&'\\65E5', 333333)", qr/invalid value for option "tables": "a/ ],
	[ "'messages', 'b' || repeat(U&'\\65E5', 333333)", qr/invalid value for option "messages": "b/ ],
	[ "'nosuch', 'c' || repeat(U&'\\65E5', 333333)", qr/option "nosuch" = "c/ ])
{
	my ($arguments, $pattern) = @$case;
	my $error = sql_error($node, "SELECT * FROM pg_logical_slot_get_changes('s', NULL, NULL, $arguments)");
	like($error, $pattern, "$arguments: refused");
	ok(utf8::decode($error), "$arguments: the message is UTF-8");
	cmp_ok(length($error), '<', 5000, "$arguments: the message is short");
}
my $error = sql_error($node, "SELECT * FROM pg_logical_slot_get_changes('s', NULL, NULL, 'tables', 'a.\xe6\x97')");
like($error, qr/invalid byte sequence/, 'invalid UTF-8 does not get in by SQL');

# a list of a megabyte that is right
is_deeply(
	[ peek($node, 's', tables => join(',', (map { "public.table_number_$_" } 1 .. 40_000), 'public.t')) ],
	\@expected, 'the last of 40,001 names counts');
for my $case ([ '?' x 500_000, 3 ], [ '*' x 500_000, 0 ], [ '*?' x 250_000, 3 ])
{
	my ($glob, $count) = @$case;
	is(scalar(peek($node, 's', 'exclude-tables' => "public.$glob")), $count, 'a glob of ' . substr($glob, 0, 4) . '...');
}

is_deeply([ get($node, 's') ], \@expected, 'after all of this the slot has lost nothing');

$node->stop;
done_testing();
