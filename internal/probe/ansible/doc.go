// Package ansible reads what ansible-playbook prints: the document of the stdout callback
// ansible.posix.json, and the plain text of --list-hosts.
//
// A Result has names, states, counts and messages of failed tasks only: arguments, variables, facts and
// outputs of tasks may hold secrets, and are dropped here.
package ansible
