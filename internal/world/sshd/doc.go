// Package sshd lets people and programs log in to the simulated hosts: one SSH
// server a host, on the host's own loopback address, that takes one generated
// key and runs the tools of package host.
//
// A diagnostic of GPUs loads them until nvidia-smi has seen them so.
//
// It never starts a shell or any process of the machine it runs on; there is no
// password, no forwarding and no file transfer. Keys are made in the directory
// it is given, readable by their owner only, and are kept for the next start.
package sshd
