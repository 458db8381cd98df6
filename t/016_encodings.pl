# In databases of every kind of encoding each line is valid JSON, pure ASCII
# where the encoding is not UTF-8, with the right characters in it.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Faults;
use CppOutput::Test;
use Encode qw();
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir;
my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'\n");
$ENV{PGCLIENTENCODING} = 'UTF8';

sub bytes { return map { Encode::encode('UTF-8', $_) } @_ }

# encoding, text that it has
for my $case ([ 'LATIN1', 'äöü', 'é' ], [ 'EUC_JP', '日本語', '値' ], [ 'UTF8', 'ключ', '🦊' ])
{
	my ($encoding, $name, $value) = @$case;
	my $db = lc "db_$encoding";
	my ($name_b, $value_b) = bytes($name, $value);
	$node->safe_psql('postgres', "CREATE DATABASE $db ENCODING '$encoding' TEMPLATE template0 LOCALE 'C'");
	create_slot($node, "s_$db", database => $db, two_phase => 1);
	create_slot($node, "w_$db", database => $db, two_phase => 1);
	my $do = sub { $node->safe_psql($db, join ';', bytes(@_)) };
	$do->(qq{CREATE SCHEMA "$name"},
		qq{CREATE TYPE "$name" AS ENUM ('$value')},
		qq{CREATE TYPE "c$name" AS ("f$name" text, n int)},
		qq{CREATE TABLE "$name"."t$name" (id int PRIMARY KEY, "$name" text, e "$name", c "c$name", a text[], j json, b jsonb, x xml, long text, secret text)},
		qq{CREATE TABLE keyless ("$name" text)},
		qq{SELECT pg_replication_origin_create('o$name$encoding')});
	$do->(qq{SELECT pg_replication_origin_session_setup('o$name$encoding')},
		qq{INSERT INTO "$name"."t$name" VALUES (1, '$value', '$value', ROW('$value', 1), ARRAY['$value', 'a"$value'],
			'{"$value": "$value"}', '{"$value": "$value"}', '<$value/>', repeat('a$value', 3000), 'secret')});
	$do->(qq{UPDATE "$name"."t$name" SET "$name" = '$value$value'});
	$do->(qq{INSERT INTO keyless VALUES ('$value')});
	$do->(qq{UPDATE keyless SET "$name" = 'x$value'});
	$do->(qq{SELECT pg_logical_emit_message(true, '$name', '$value')});
	$do->(qq{SELECT pg_logical_emit_message(false, '$name', '$value')});
	$do->(qq{BEGIN}, qq{INSERT INTO keyless VALUES ('$value')}, qq{PREPARE TRANSACTION 'g$name'});
	$do->(qq{COMMIT PREPARED 'g$name'});

	my @sql = peek($node, "s_$db", -database => $db, 'include-origin' => 'on', 'include-relations' => 'on');
	my @wire = recvlogical($node, "w_$db", -database => $db, 'include-origin' => 'on', 'include-relations' => 'on');
	is_deeply(\@wire, \@sql, "$encoding: a walsender sends what SQL gives");
	is_json("$encoding: JSON", @sql);
	if ($encoding eq 'UTF8') { ok(utf8::decode(my $copy = join '', @sql), "$encoding: valid UTF-8") }
	else { unlike("@sql", qr/[^\x20-\x7e]/, "$encoding: pure ASCII") }

	my @events = map { decode_json($_) } @sql;
	my ($insert) = grep { $_->{op} eq 'insert' && $_->{table} eq "t$name" } @events;
	is($insert->{schema}, $name, "$encoding: schema");
	is($insert->{origin} // (grep { $_->{op} eq 'begin' && $_->{origin} } @events)[0]{origin}, "o$name$encoding", "$encoding: origin");
	my $new = $insert->{new};
	is($new->{$name}, $value, "$encoding: column and value");
	is($new->{e}, $value, "$encoding: enum");
	is_deeply($new->{c}, { "f$name" => $value, n => 1 }, "$encoding: composite");
	is_deeply($new->{a}, [ $value, "a\"$value" ], "$encoding: array");
	is_deeply($new->{$_}, { $value => $value }, "$encoding: $_") for 'j', 'b';
	is($new->{x}, "<$value/>", "$encoding: xml");
	is($new->{long}, "a$value" x 3000, "$encoding: a long value");
	my @messages = grep { $_->{op} eq 'message' } @events;
	is_deeply([ map { [ $_->{prefix}, $_->{content}, $_->{transactional} ? 1 : 0 ] } @messages ],
		[ [ $name, $value, 1 ], [ $name, $value, 0 ] ], "$encoding: messages");
	my %gids = map { $_->{op} => $_->{gid} } grep { $_->{gid} } @events;
	is_deeply(\%gids, { begin => "g$name", prepare => "g$name", commit_prepared => "g$name" }, "$encoding: gid");

	# options with such names mean the same both ways
	my ($columns, $tables) = bytes(qq{$name.t$name.$name,$name.t$name.secret}, qq{$name.*});
	$do->(qq{INSERT INTO "$name"."t$name" (id, "$name", secret) VALUES (2, 'hidden', 'hidden')});
	for my $option ([ 'exclude-columns' => $columns ], [ 'exclude-tables' => $tables ])
	{
		my @filtered = peek($node, "s_$db", -database => $db, @$option);
		is(scalar(grep { /hidden/ } @filtered), 0, "$encoding: $option->[0] in SQL");
		my $client = start_client($node, "w_$db", "$dir/$db", { @$option, 'streaming' => 'on' }, database => $db);
		$do->('INSERT INTO keyless VALUES (1)');
		wait_until(sub { grep { /keyless/ } lines_of("$dir/$db") }, 'the row behind');
		is(scalar(grep { /hidden/ } lines_of("$dir/$db")), 0, "$encoding: $option->[0] in a walsender");
		$client->{run}->signal('INT');
		$client->{run}->finish;
		wait_until_unused($node, "w_$db");
		unlink "$dir/$db";
		$do->(qq{INSERT INTO "$name"."t$name" (id, "$name", secret) VALUES (3, 'hidden', 'hidden')}) if $option->[0] =~ /columns/;
	}

	# what goes wrong is said in the database's encoding
	my $error = sql_error($node, slot_sql('peek', "s_$db", tables => (bytes("$name."))[0]), database => $db);
	like(Encode::decode('UTF-8', $error), qr/invalid value for option "tables": "$name\."/, "$encoding: an error");
	my ($status, $stdout, $stderr) = $node->psql($db, slot_sql('peek', "s_$db", tables => 'public.keyless'));
	is($status, 0, "$encoding: no error because of a warning");
	like($stderr, qr/WARNING:.*keyless.*no replica identity/, "$encoding: a warning");
	($status, $stdout, $stderr) = $node->psql($db,
		join ';', bytes(qq{CREATE TABLE "k$name" (v int)}, qq{INSERT INTO "k$name" VALUES (1)}, qq{UPDATE "k$name" SET v = 2}, slot_sql('peek', "s_$db")));
	is($status, 0, "$encoding: no error because of a warning with such a name");
	like(Encode::decode('UTF-8', $stderr), qr/WARNING:.*public\.k$name.*no replica identity/, "$encoding: that warning");
}

# --- a name of an origin made under another encoding ----------------------------

create_slot($node, 'shared', database => 'db_utf8');
my $session = CppOutput::Faults::Session->new($node, database => 'db_utf8', env => { PGCLIENTENCODING => 'UTF8' });
$session->query(q{CREATE TABLE o (id int PRIMARY KEY);
	SELECT pg_replication_origin_session_setup(roname) FROM pg_replication_origin WHERE roname LIKE '%LATIN1';
	INSERT INTO o VALUES (1)});
$session->end;
my @lines = grep { /"origin"/ } peek($node, 'shared', -database => 'db_utf8', 'include-origin' => 'on');
cmp_ok(scalar(@lines), '>', 0, 'an origin of another database');
is_json('an origin of another database', @lines);
ok(utf8::decode(my $copy = "@lines"), 'an origin of another database: valid UTF-8');

# --- SQL_ASCII: anything goes in ---------------------------------------------------

$node->safe_psql('postgres', "CREATE DATABASE db_sql_ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'");
$ENV{PGCLIENTENCODING} = 'SQL_ASCII';
create_slot($node, 's', database => 'db_sql_ascii');
$node->safe_psql('db_sql_ascii', qq{
	CREATE TABLE "t\xe9" (id int PRIMARY KEY, "c\xff" text, j json, a text[]);
	INSERT INTO "t\xe9" VALUES (1, '\xc3\xa9' || chr(255) || chr(200), '{"k\xe9": "\xfe"}', ARRAY['\x80', '\xe6\x97']);
	SELECT pg_logical_emit_message(true, 'p\xe9', '\xff');
	SELECT pg_logical_emit_message(false, 'p\xe9', '\xc3\xa9');
	CREATE TABLE flushed ();
});
@lines = peek($node, 's', -database => 'db_sql_ascii');
is_json('SQL_ASCII: JSON', @lines);
unlike("@lines", qr/[^\x20-\x7e]/, 'SQL_ASCII: pure ASCII');
my ($row) = map { decode_json($_) } grep { /"insert"/ } @lines;
is($row->{new}{"c\x{fffd}"}, "\xe9\x{fffd}\x{fffd}", 'SQL_ASCII: what is UTF-8 stays, the rest is replaced');
is_deeply([ map { $_->{content} // $_->{content_base64} } map { decode_json($_) } grep { /"message"/ } @lines ],
	[ '/w==', "\xe9" ], 'SQL_ASCII: content');

$node->stop;
done_testing();
