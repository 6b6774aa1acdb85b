// Package ssh runs commands on the hosts of a site. It verifies host keys with the known_hosts
// file of the site and writes no files on a host.
//
// There is one reused connection per host. The number of concurrent commands over all hosts is
// limited by the site. Every command has a timeout. Output is bounded; longer output is an
// error.
package ssh
