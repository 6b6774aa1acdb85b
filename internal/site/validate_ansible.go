package site

import (
	"slices"
	"strings"
)

// refusedArgs are arguments of ansible-playbook that firstlight sets itself, or with which the playbook
// is not applied as a whole.
var refusedArgs = []string{
	"-i", "--inventory", "--inventory-file", "-l", "--limit", "-C", "--check", "--step", "--start-at-task",
	"--list-hosts", "--list-tasks", "--list-tags", "--syntax-check", "-k", "--ask-pass", "-K", "--ask-become-pass", "-J", "--ask-vault-pass", "--ask-vault-password",
}

func (v *validator) ansible(path string, a *Ansible) {
	v.require(path+".playbook", a.Playbook, "ansible/nodes.yaml")
	if _, err := a.WavesOf(nil); err != nil {
		v.add(path+".waves", "%v", err)
	}
	for _, arg := range a.Args {
		name, _, _ := strings.Cut(arg, "=")
		if short := len(name) > 2 && name[0] == '-' && name[1] != '-'; short {
			name = name[:2] // -iFILE
		}
		if slices.Contains(refusedArgs, name) {
			v.add(path+".args", "must not have %s: use the keys inventory and waves; the playbook is applied as a whole, without questions", name)
		}
	}
}
