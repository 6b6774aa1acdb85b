package gate_test

import (
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/site"
)

// Every gate lists its commands on hosts and its pods: facility alone has neither.
func TestRequiredBy(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	for _, name := range site.Gates() {
		r, err := gate.RequiredBy(s, p, []string{name})
		if err != nil {
			t.Fatal(err)
		}
		hosts, pods := slices.Contains([]string{"fabric", "node"}, name), !slices.Contains([]string{"facility", "fabric", "node"}, name)
		if (len(r.Commands) > 0) != hosts || (len(r.Workloads) > 0) != pods {
			t.Errorf("%s: %d commands, %d workloads", name, len(r.Commands), len(r.Workloads))
		}
		for _, c := range r.Commands {
			if c.Gate != name || len(c.Hosts) == 0 || len(c.Tried()) == 0 || c.Read == nil {
				t.Errorf("%s: %+v", name, c)
			}
		}
		for _, w := range r.Workloads {
			if w.Gate != name || w.Image == "" || w.Pods < 1 || w.GPUs > 0 && len(w.Nodes) == 0 {
				t.Errorf("%s: %+v", name, w)
			}
		}
	}
	r, err := gate.RequiredBy(s, p, []string{"autoscale"})
	if err != nil || len(r.Images) != 2 || r.Images[0] == "" || r.Images[1] == "" {
		t.Errorf("%+v, %v", r.Images, err)
	}
}

// RBAC prints the rules that Permissions lists.
func TestPermissionsAreThoseOfRBAC(t *testing.T) {
	t.Parallel()
	s := served(t)
	for _, namespace := range []string{"", "acceptance"} {
		a := gate.Allowed{Gates: site.Gates(), Namespace: namespace}
		printed, count := rbac(t, s, a), 0
		for _, rules := range printed.rules {
			count += len(rules)
		}
		listed, err := gate.Permissions(s, a)
		if err != nil || len(listed) != count {
			t.Errorf("in %q: %d rules, %d printed, %v", namespace, len(listed), count, err)
		}
		for _, l := range listed {
			if l.Why == "" || !slices.ContainsFunc(l.Rule.Verbs, func(verb string) bool {
				return printed.allows(l.Namespace, verb+" "+l.Rule.APIGroups[0]+"/"+l.Rule.Resources[0], append(l.Rule.ResourceNames, "x")[0])
			}) {
				t.Errorf("%+v is not printed", l)
			}
		}
	}
}

// Where a site declares a DeviceClass, the pods of every gate that have GPUs claim them, as the launcher starts them.
func TestRequiredPodsClaimTheGPUsOfADeclaredClass(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	s.GPUStack.DeviceClass = site.DRADeviceClass
	r, err := gate.RequiredBy(s, p, site.Gates())
	if err != nil || len(r.Workloads) == 0 {
		t.Fatalf("%+v, %v", r.Workloads, err)
	}
	for _, w := range r.Workloads {
		if w.DeviceClass != site.DRADeviceClass {
			t.Errorf("%s of %s has the class %q", w.Name, w.Gate, w.DeviceClass)
		}
	}
}
