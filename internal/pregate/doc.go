// Package pregate runs the hooks that a site declares before a gate: a command, an Ansible
// playbook, a Helm release. The engine keeps their output as evidence; an exit code is never
// the criterion. The result of a playbook is observed, and judged by package playbook.
package pregate
