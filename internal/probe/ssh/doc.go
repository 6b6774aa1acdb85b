// Package ssh runs commands on the hosts of a site. Host keys are checked
// against the site's known_hosts; nothing is ever written on a host.
//
// Invariants: one connection a host, reused; at most the site's number of
// commands at a time over all hosts; every command has a deadline; output is
// bounded, and what is cut is an error, not a shorter output.
package ssh
