// Package ssh runs commands on the hosts of a site: with keys of files or of ssh-agent,
// certificates, an ssh_config and jump hosts. It always verifies host keys, and writes no
// files on a host.
//
// There is one reused connection per host, and a limit of the site for all connections and
// concurrent commands. Connecting and every command have a timeout. Output is bounded; longer
// output is an error.
package ssh
