=pod

=head1 NAME

CppOutput::Faults - helpers of the TAP tests that break things

=head1 SYNOPSIS

  use CppOutput::Faults;

  create_fault_type($node);
  my $session = CppOutput::Faults::Session->new($node);
  $session->query('BEGIN');
  my $client = start_client($node, 's', $file, { format => 'json' });
  wait_until(sub { temp_files($node) > 0 }, 'a temporary file');

=cut

package CppOutput::Faults;

use strict;
use warnings;

use Exporter 'import';
use File::Find qw(find);
use IPC::Run ();
use Time::HiRes ();
use PostgreSQL::Test::Utils;
use Test::More;

use CppOutput::Test;

our @EXPORT = qw(create_fault_type temp_files start_client wait_until wait_for_log log_position
  walsender_pid wait_for_slot_use wait_until_unused sql_error lines_of send_signal is_json);

# The type of test/fault_type, in a database.
sub create_fault_type
{
	my ($node, $database) = @_;
	my $root = $CppOutput::Test::root;
	my $output;
	IPC::Run::run([ 'make', '-s', '-C', $root, 'build/fault_type.so', 'PG_CONFIG=pg_config' ],
		'>', \$output, '2>&1')
	  or die "build/fault_type.so: $output";
	$node->safe_psql($database || 'postgres', slurp_file("$root/test/fault_type/fault_type.sql"),
		extra_params => [ '-v', "library=$root/build/fault_type.so" ]);
	return;
}

# Names of the temporary files that are there now.
sub temp_files
{
	my ($node) = @_;
	my @files;
	find(
		{
			wanted => sub { push @files, $_ if /^pgsql_tmp\d/ },
			follow_fast => 1,
			follow_skip => 2
		},
		$node->data_dir);
	return @files;
}

# Calls the function until it returns something true, and returns that.
sub wait_until
{
	my ($condition, $what) = @_;
	my $tries = 20 * $PostgreSQL::Test::Utils::timeout_default;
	for (1 .. $tries)
	{
		my $result = $condition->();
		return $result if $result;
		Time::HiRes::usleep(50_000);
	}
	die "waited in vain for $what";
}

sub log_position
{
	my ($node) = @_;
	return -s $node->logfile;
}

sub wait_for_log
{
	my ($node, $pattern, $from) = @_;
	return wait_until(sub { slurp_file($node->logfile, $from) =~ $pattern }, "$pattern in the log");
}

sub walsender_pid
{
	my ($node, $slot) = @_;
	return $node->safe_psql('postgres',
		"SELECT active_pid FROM pg_replication_slots WHERE slot_name = '$slot'");
}

# Waits until somebody decodes from the slot; returns that process's id.
sub wait_for_slot_use
{
	my ($node, $slot) = @_;
	return wait_until(sub { walsender_pid($node, $slot) }, "use of slot $slot");
}

sub wait_until_unused
{
	my ($node, $slot) = @_;
	return wait_until(sub { walsender_pid($node, $slot) eq '' }, "slot $slot to be free");
}

sub send_signal
{
	my ($signal, $pid) = @_;
	kill($signal, $pid) == 1 or die "cannot send $signal to $pid: $!";
	return;
}

# pg_recvlogical in the background, writing to a file. Options: of the plugin;
# -env: a reference to more environment
sub start_client
{
	my ($node, $slot, $file, $options, %params) = @_;
	my @command = (
		'pg_recvlogical', '-d', $node->connstr($params{database} || 'postgres'),
		'-S', $slot, '--start', '-f', $file, '-F', '1', '-s', '1', '--no-loop');
	push @command, '-o', defined $options->{$_} ? "$_=$options->{$_}" : $_ for sort keys %$options;
	local %ENV = (%ENV, %{ $params{env} || {} });
	my $stderr = '';
	my $run = IPC::Run::start(\@command, '<', \undef, '>', \my $stdout, '2>', \$stderr);
	return {
		run => $run,
		stderr => \$stderr,
		pid => $run->{KIDS}[0]{PID},
		file => $file
	};
}

# Lines that a client's file has so far; what is after the last newline is not
# one yet.
sub lines_of
{
	my ($file) = @_;
	return () unless -e $file;
	my $content = slurp_file($file);
	$content =~ s/[^\n]*\z//;
	return split /\n/, $content;
}

# What psql says about SQL that ends in an error.
sub sql_error
{
	my ($node, $sql, %params) = @_;
	my ($status, $stdout, $stderr) = $node->psql($params{database} || 'postgres', $sql, on_error_stop => 1);
	return $status == 0 ? '' : $stderr;
}

# Is each of them one object of JSON on one line?
sub is_json
{
	my ($name, @lines) = @_;
	my @bad = grep { /[\r\n]/ || !eval { decode_json($_)->{op} } } @lines;
	ok(!@bad, $name) or diag("not JSON: $bad[0]");
	return;
}

# A psql that stays, for transactions that stay open.
package CppOutput::Faults::Session;

use strict;
use warnings;

use IPC::Run ();

sub new
{
	my ($class, $node, %params) = @_;
	my $self = bless { in => '', out => '', err => '', count => 0 }, $class;
	local %ENV = (%ENV, %{ $params{env} || {} });
	$self->{timer} = IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default);
	$self->{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr($params{database} || 'postgres'), '-f', '-' ],
		'<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err}, $self->{timer});
	return $self;
}

# Sends SQL without waiting for its end.
sub start
{
	my ($self, $sql) = @_;
	$self->{timer}->start($PostgreSQL::Test::Utils::timeout_default);
	my $mark = 'done-' . ++$self->{count};
	$self->{mark} = $mark;
	$self->{in} .= "$sql;\n\\echo $mark\n\\warn $mark\n";
	$self->{run}->pump_nb;
	return;
}

# The output of what was started last; what went to stderr is in ->{said}.
sub finish
{
	my ($self) = @_;
	my $mark = $self->{mark};
	$self->{run}->pump until $self->{out} =~ /^$mark\n/m && $self->{err} =~ /^$mark\n/m;
	(my $out = $self->{out}) =~ s/^$mark\n//m;
	($self->{said} = $self->{err}) =~ s/^$mark\n//m;
	$self->{out} = $self->{err} = '';
	chomp $out;
	return $out;
}

sub query
{
	my ($self, $sql) = @_;
	$self->start($sql);
	return $self->finish;
}

sub end
{
	my ($self) = @_;
	$self->{in} .= "\\q\n";
	$self->{run}->finish;
	return;
}

1;
