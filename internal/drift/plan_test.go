package drift

import (
	"testing"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// A comparison with a baseline ran the site's preparations again: it applied its playbooks.
func TestAComparisonPreparesNothing(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("example", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare = nil
	for _, name := range measured() {
		s.Prepare = append(s.Prepare, site.Prepare{Gate: name, Ansible: &site.Ansible{Playbook: "nodes.yaml"}}, site.Prepare{Gate: name, Command: []string{"reboot"}})
	}
	accepted, err := gate.Playbook(s, p, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	prepared := 0
	for _, step := range accepted.Steps {
		prepared += len(step.Prepare)
	}
	compared, err := Plan(s, p, Baseline{Run: "r"}, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if prepared != 2*len(measured()) || len(compared.Steps) != 1+len(measured()) {
		t.Fatalf("%d preparations of an acceptance, %d steps of a comparison", prepared, len(compared.Steps))
	}
	for _, step := range compared.Steps {
		if len(step.Prepare) > 0 || len(step.Playbooks.Hosts) > 0 {
			t.Errorf("step %s is prepared: %v", step.Name(), step.Prepare)
		}
	}
}
