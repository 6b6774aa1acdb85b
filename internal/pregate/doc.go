// Package pregate runs the hooks that a site declares before a gate: a command, an Ansible
// playbook, a Helm release. The engine keeps their output as evidence; the exit code is
// never the criterion.
package pregate
