// Package sshconfig resolves the options of OpenSSH's client configuration (ssh_config(5)) for
// a host: Host blocks, Match all, Include, and the options of Host. The first value of an option
// counts; IdentityFile and CertificateFile add up. Its tests compare it with ssh -G.
//
// An option that other programs apply and this one cannot is an error if it changes which host
// is reached, by which way, or which key is trusted. Other options have no effect.
// StrictHostKeyChecking has none either: host keys are always verified.
//
// The lines are parsed by ssh_config of Kevin Burke. Its evaluation is not used, since it
// ignores further criteria after Match host, and ? matches no character there.
package sshconfig
