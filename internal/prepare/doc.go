// Package prepare does what a site declares to be done before a gate is
// observed: a command, an Ansible playbook, a Helm release. Output is kept as
// evidence by the engine; the exit code is never the criterion.
package prepare
