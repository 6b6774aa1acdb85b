package fabric_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/site"
)

// becoming runs what follows "sudo -n --" on a subnet, or refuses it.
type becoming struct {
	*subnet
	refuse string // program

	mu   sync.Mutex
	root map[string]bool // programs that ran with sudo
	user map[string]bool // programs that ran without
}

func (b *becoming) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	command, root := sudo.Command(argv)
	b.mu.Lock()
	if root {
		b.root[command[0]] = true
	} else {
		b.user[argv[0]] = true
		command = argv
	}
	b.mu.Unlock()
	if root && command[0] == b.refuse {
		return ssh.Output{Exit: 1}, sudo.Refusal(host, "ops", command, 1, []byte("sudo: a password is required\n"), 1)
	}
	return b.subnet.Run(ctx, host, command...)
}

// With become, the commands that need root run with sudo and no others, and the subnet
// passes. If sudo refuses one of them, the gate is unobserved: neither failed nor passed.
func TestBecome(t *testing.T) {
	t.Parallel()
	for _, refuse := range []string{"", "sminfo", "iblinkinfo", "ibqueryerrors", "ibdiagnet"} {
		t.Run("without "+refuse, func(t *testing.T) {
			t.Parallel()
			s, p := declared()
			s.Reach.SSH.Become = site.Sudo
			hosts := &becoming{subnet: newSubnet(), refuse: refuse, root: map[string]bool{}, user: map[string]bool{}}
			j := fabric.New(s, p, onhost.Deps{}).Judge(lookAt(t, hosts, s, p))
			want := check.Passed
			if refuse != "" {
				want = check.Unobserved
			}
			if j.Verdict != want {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
			if text := fmt.Sprint(j.Findings); refuse != "" && !strings.Contains(text, "ops ALL=(root) NOPASSWD: /usr/") {
				t.Errorf("the line to add is not in %s", text)
			}
			if got := fmt.Sprint(hosts.root, hosts.user); got != "map[ibdiagnet:true iblinkinfo:true ibqueryerrors:true sminfo:true] map[ibstat:true sh:true]" {
				t.Errorf("with sudo and without: %s", got)
			}
		})
	}
}
