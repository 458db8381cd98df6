# What the documentation says is what the library does, where that can be told.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use CppOutput::Test;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

my $root = "$FindBin::RealBin/..";
my $node = new_node('main');

# --- doc/options.md has the table of options -----------------------------------

# without CREATE EXTENSION, which needs an installed library
(my $function = slurp_file("$root/cpp_output--1.0.0.sql")) =~ s/^\\echo .*$//m;
$function =~ s/'MODULE_PATHNAME'/'cpp_output'/;
$node->safe_psql('postgres', $function);
my ($stdout, $stderr);
my $agrees = IPC::Run::run(
	[ "$root/tools/options-page.sh", '--check', $node->connstr('postgres') ],
	'>', \$stdout, '2>', \$stderr);
ok($agrees, 'doc/options.md agrees with cpp_output_options()') or diag($stderr);

# each in the README, by its name or as one of include-...
my $readme = slurp_file("$root/README.md");
my @common = split /\n/, $node->safe_psql('postgres',
	"SELECT name FROM cpp_output_options() WHERE formats IN ('all', 'json') AND name NOT LIKE 'include-%'");
is_deeply([ grep { $readme !~ /`$_`/ } @common ], [], 'README.md names all options of json');

# each format has its section
my $formats = $node->safe_psql('postgres', "SELECT allowed FROM cpp_output_options() WHERE name = 'format'");
my $page = slurp_file("$root/doc/formats.md");
is_deeply([ grep { $page !~ /^## $_$/m } split /, /, $formats ], [], 'doc/formats.md describes all formats');

# --- what is shown of format json is JSON, with operations that are described ---

for my $file ("$root/README.md", glob("$root/doc/*.md"))
{
	(my $name = $file) =~ s/^\Q$root\E\///;
	my @lines = grep { /^\{"op":/ } split /\n/, slurp_file($file);
	next unless @lines;
	my @bad = grep { !eval { decode_json($_)->{op} } } @lines;
	is_deeply(\@bad, [], "$name: all examples are JSON");
}

$node->stop;
done_testing();
