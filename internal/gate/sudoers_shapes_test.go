package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Every command that a gate runs with sudo has a line in the sudoers file, whose path is known, and
// the documentation lists its program: for every profile, so every kind of fabric, and every key of the site
// that adds commands.
func TestSudoersAllowEveryShapeOfSite(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ssh.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, design := range []string{"", "fabric.ibnetdiscover"} {
			s, _ := exampleWithProfile(t)
			s.Profile, s.Fabric.Design, s.Reach.SSH.Become = name, design, site.Sudo
			s.Fabric.RoCE = &site.RoCE{Priority: new(3)}
			data, err := gate.Sudoers(s, p, "ops", site.Gates(), nil)
			if err != nil {
				t.Errorf("%s, design %q: %v", name, design, err)
				continue
			}
			required, err := gate.RequiredBy(s, p, []string{"fabric", "node"})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range required.Commands {
				command, ok := sudo.Command(c.Argv)
				if !ok {
					continue
				}
				ran[command[0]] = true
				if line, err := sudo.Rule("ops", command, nil); err != nil || !strings.Contains(string(data), line+"\n") {
					t.Errorf("%s, design %q: sudoers lack %q, %v", name, design, command, err)
				}
				if !strings.Contains(string(page), "`"+command[0]) {
					t.Errorf("docs/ssh.md lacks %s", command[0])
				}
			}
		}
	}
	for _, program := range []string{"sminfo", "ibnetdiscover", "dcgmi", "dmesg"} {
		if !ran[program] {
			t.Errorf("no site runs %s: the shapes are too few", program)
		}
	}
}
