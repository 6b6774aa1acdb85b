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
		if name := refusedIn(arg); name != "" {
			v.add(path+".args", "must not have %s: use the keys inventory and waves; the playbook is applied as a whole, without questions", name)
		}
	}
}

// refusedIn is the refused option that an argument is or contains; "": none. ansible-playbook accepts
// beginnings of long options (--che), and several short ones in one argument (-vC, -vlgpu-01).
func refusedIn(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	if strings.HasPrefix(name, "--") {
		i := slices.IndexFunc(refusedArgs, func(r string) bool { return len(name) > 2 && strings.HasPrefix(r, name) })
		if i < 0 {
			return ""
		}
		return refusedArgs[i]
	}
	if !strings.HasPrefix(name, "-") {
		return ""
	}
	for _, letter := range arg[1:] {
		if short := "-" + string(letter); slices.Contains(refusedArgs, short) {
			return short
		}
		if !strings.ContainsRune("vbD", letter) {
			return "" // the option has a value
		}
	}
	return ""
}
