#!/usr/bin/env perl
use strict;
use warnings;
use JSON::PP;

$| = 1;
while (my $line = <STDIN>) {
    my $job = decode_json($line);
    print encode_json({id => $job->{id}, ok => JSON::PP::true, result => $job->{payload}}), "\n";
}
