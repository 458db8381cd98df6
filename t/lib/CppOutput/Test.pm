=pod

=head1 NAME

CppOutput::Test - what the TAP tests share

=head1 SYNOPSIS

  use CppOutput::Test;

  my $node = new_node('main', conf => "logical_decoding_work_mem = '64kB'");
  create_slot($node, 's');
  $node->safe_psql('postgres', 'INSERT ...');
  my @rows = peek($node, 's', format => 'json');
  my @lines = recvlogical($node, 's', format => 'json');
  my @messages = consume($node, 's', { format => 'json' });

The library is the one in the directory that "make" left it in, installed or
not. CPP_OUTPUT_LIBRARY names another directory.

=cut

package CppOutput::Test;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use IPC::Run ();
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_node create_slot drop_slot slot_sql get peek recvlogical consume
  wal_position server_major decode_json);

our $root = abs_path(dirname(__FILE__) . '/../../..');
our $library_dir = $ENV{CPP_OUTPUT_LIBRARY} || $root;

# A started server that may use the plugins, with the library of the build.
# conf: more lines for postgresql.conf; init: arguments of initdb; library_dir;
# streaming: a standby can be made of it
sub new_node
{
	my ($name, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(extra => $params{init} || [], allows_streaming => $params{streaming});
	$node->append_conf('postgresql.conf', "\n" . server_settings($params{library_dir} || $library_dir));
	$node->append_conf('postgresql.conf', $params{conf}) if $params{conf};
	$node->set_replication_conf;
	$node->start;
	return $node;
}

sub server_settings
{
	my ($directory) = @_;
	my ($stdout, $stderr);
	chomp(my $bindir = `pg_config --bindir`);
	IPC::Run::run(["$root/tools/server-settings.sh", $bindir, $directory], '>', \$stdout, '2>', \$stderr)
	  or die "server-settings.sh: $stderr";
	return $stdout;
}

sub server_major
{
	my ($node) = @_;
	return int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
}

# plugin (cpp_output), two_phase (false), database (postgres)
sub create_slot
{
	my ($node, $slot, %params) = @_;
	my $plugin = $params{plugin} || 'cpp_output';
	my $two_phase = $params{two_phase} ? 'true' : 'false';
	return $node->safe_psql($params{database} || 'postgres',
		"SELECT lsn FROM pg_create_logical_replication_slot('$slot', '$plugin', false, $two_phase)");
}

sub drop_slot
{
	my ($node, $slot, %params) = @_;
	return $node->safe_psql($params{database} || 'postgres', "SELECT pg_drop_replication_slot('$slot')");
}

sub quote
{
	my ($text) = @_;
	$text =~ s/'/''/g;
	return "'$text'";
}

# The query that reads a slot; how is get or peek.
sub slot_sql
{
	my ($how, $slot, %options) = @_;
	my @arguments = map { quote($_) . ', ' . quote($options{$_}) } sort keys %options;
	return "SELECT data FROM pg_logical_slot_${how}_changes(" . join(', ', "'$slot'", 'NULL', 'NULL', @arguments) . ')';
}

# Messages of a slot through SQL, one an element, newlines in them kept.
sub read_sql
{
	my ($how, $node, $slot, %options) = @_;
	my $database = delete $options{-database} || 'postgres';
	my $out = $node->safe_psql($database, slot_sql($how, $slot, %options), extra_params => [ '-R', "\x1e" ]);
	return split /\x1e/, $out;
}

sub get { return read_sql('get', @_) }
sub peek { return read_sql('peek', @_) }

sub wal_position
{
	my ($node) = @_;
	# a commit of its own, so that all before it is flushed
	$node->safe_psql('postgres', 'SELECT txid_current()');
	return $node->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
}

# What pg_recvlogical prints up to now, by lines; the slot moves on.
sub recvlogical
{
	my ($node, $slot, %options) = @_;
	my $database = delete $options{-database} || 'postgres';
	my $out = $node->pg_recvlogical_upto($database, $slot, wal_position($node),
		$PostgreSQL::Test::Utils::timeout_default, %options);
	return split /\n/, $out;
}

# Messages as psycopg2 receives them up to now; the slot moves on. Options is a
# reference: in it, undef is an option without value.
sub consume
{
	my ($node, $slot, $options, %params) = @_;
	my $json = JSON::PP->new->utf8->canonical;
	my @command = (
		'/usr/bin/python3', "$root/t/consume.py",
		'--dsn' => $node->connstr($params{database} || 'postgres'),
		'--slot' => $slot,
		'--options' => $json->encode($options || {}),
		'--until' => $params{until} || wal_position($node));
	my ($stdout, $stderr);
	IPC::Run::run(\@command, '>', \$stdout, '2>', \$stderr, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default))
	  or die "consume.py: $stderr";
	return @{ $json->decode($stdout) };
}

# The object that a line of the format json is; dies if it is none.
sub decode_json
{
	my ($line) = @_;
	return JSON::PP->new->utf8->allow_bignum->decode($line);
}

1;
