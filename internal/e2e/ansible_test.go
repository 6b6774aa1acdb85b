package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestAnsible applies a playbook to a lab's nodes before gate node, in waves, with the real
// ansible-playbook. After each wave gate node's commands without load run on its nodes: a GPU that is lost
// in the first wave is found there, the playbook is not applied to the other nodes, and the gate is not
// observed. The verdict follows from the stored observations.
func TestAnsible(t *testing.T) {
	suite.Require(t, suite.All)
	if _, err := exec.LookPath("ansible-galaxy"); err != nil {
		t.Skip("needs Ansible: apt-get install ansible")
	}
	sharedLab(t)
	dir, done := t.TempDir(), t.TempDir()
	var nodes []string
	for _, m := range regexp.MustCompile(`name: (gpu-\d+)`).FindAllStringSubmatch(program.Must(t, "lab", "site", "--name", labName).Stdout, -1) {
		if !slices.Contains(nodes, m[1]) {
			nodes = append(nodes, m[1])
		}
	}
	if len(nodes) < 3 {
		t.Fatalf("nodes: %q", nodes)
	}
	files := map[string]string{
		"inventory.ini": "[nodes]\n" + strings.Join(nodes, "\n") + "\n[nodes:vars]\nansible_connection=local\n",
		"nodes.yaml": "- name: Nodes\n  hosts: nodes\n  gather_facts: false\n  tasks:\n    - name: Write\n" +
			"      ansible.builtin.copy: {content: x, dest: \"" + done + "/{{ inventory_hostname }}\"}\n",
		"site.yaml": "prepare:\n  - gate: node\n    ansible: {playbook: nodes.yaml, inventory: inventory.ini, waves: \"2\"}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(evidence string) acceptance {
		a, _ := accept(t, "--site", filepath.Join(dir, "site.yaml"), "--only", "node", "--evidence", filepath.Join(dir, evidence))
		program.Must(t, "evidence", "replay", a.Evidence)
		return a
	}
	written := func() int {
		entries, err := os.ReadDir(done)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.Remove(filepath.Join(done, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		return len(entries)
	}
	if a := walk("healthy"); a.verdicts() != "node=passed" {
		t.Errorf("%s: %+v", a.verdicts(), a.Gates)
	}
	if n := written(); n != len(nodes) {
		t.Errorf("the playbook was applied to %d of %d nodes", n, len(nodes))
	}
	suspect := nodes[1] + "/gpu3"
	program.Must(t, "lab", "fault", "add", "gpu-off-bus", suspect, "--name", labName)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	a := walk("fault")
	if a.verdicts() != "node=failed" || len(a.Gates[0].Findings) < 2 || a.Gates[0].Findings[0].Suspect != suspect {
		t.Errorf("%s: %+v", a.verdicts(), a.Gates)
	}
	if n := written(); n != 2 {
		t.Errorf("the playbook was applied to %d nodes, want those of the first wave", n)
	}
}
