// Package sshd serves SSH logins to the simulated hosts: one server per host on the host's own
// loopback address, which accepts one generated key and runs the tools of package host.
//
// A GPU diagnostic loads its GPUs until an nvidia-smi has run.
//
// The package never starts a shell or process of the real machine. It has no passwords, forwarding
// or file transfer. Keys are created with mode 0600 in the given directory and reused by the next
// start.
package sshd
