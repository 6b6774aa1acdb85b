package constraint_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		expression, actual string
		want               bool
	}{
		{"ubuntu", "ubuntu", true},
		{"ubuntu", " ubuntu ", true},
		{"ubuntu", "Ubuntu", false},
		{"24.04", "24.04", true},
		{"24.04", "24.4", false},
		{">= 1.32.4", "v1.33.5-eks-3025e55", true},
		{">= 1.32.4", "1.32.3", false},
		{">=1.32", "1.32.0", true},
		{">= 1.32", "1.32.9", true},
		{"> 1.32", "1.32.9", false},
		{"> 1.32", "1.33.0", true},
		{"<= 1.32", "1.32.9", true},
		{"< 1.32", "1.32.9", false},
		{"< 1.32", "1.31.14", true},
		{">= 6.8", "6.8.0-1024-aws", true},
		{">= 6.8", "6.10.1", true},
		{">= v24.6.0", "v25.10.1", true},
		{">= 300", "489.80", true},
		{">= 9", "10", true},
		{"== 1.32", "1.32.4", true},
		{"== 1.32", "1.33.4", false},
		{"== ubuntu", "ubuntu", true},
		{"== 1.32", "ubuntu", false},
		{"!= 1.32", "1.32.4", false},
		{"!= ubuntu", "rhel", true},
		{"== 8", "8", true},
		{"== 8", "08", false},
		{">= 1.34.3-gke.1318000", "1.34.3-gke.1318001", true},
		{">= 1.34.3-gke.1318000", "1.34.3-gke.9", false},
		{">= 1.34.3-gke.1318000", "1.34.3", false},
		{">= 1.34.3-gke.1318000 < 1.35.0 || >= 1.35.0-gke.2745000", "1.34.9-gke.1", true},
		{">= 1.34.3-gke.1318000 < 1.35.0 || >= 1.35.0-gke.2745000", "1.35.0-gke.1", false},
		{">= 1.34.3-gke.1318000 < 1.35.0 || >= 1.35.0-gke.2745000", "1.36.1", true},
		{"a || b", "b", true},
	}
	for _, tt := range tests {
		t.Run(tt.expression+" on "+tt.actual, func(t *testing.T) {
			t.Parallel()
			e, err := constraint.Parse(tt.expression)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.Holds(tt.actual); err != nil || got != tt.want {
				t.Errorf("holds: %v, %v", got, err)
			}
		})
	}
}

func TestWhatIsNoExpression(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "  ", ">=", ">= ", ">= new", "< latest", "=> 1.2", "= 1.2", "! x", "a ||", "|| a", ">= 1.2 ||", ">= 1.2 < x"} {
		if e, err := constraint.Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, e)
		}
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	t.Parallel()
	for expression, actual := range map[string]string{">= 1.32": "unknown", "< 2": "", "!no-gpu": "x"} {
		e, err := constraint.Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Holds(actual); err == nil {
			t.Errorf("%q on %q holds: %v", expression, actual, got)
		}
	}
}

const snapshot = `
kind: Snapshot
apiVersion: aicr.nvidia.com/v1alpha1
metadata: {created: 2026-01-01T00:00:00Z, source: gpu-01}
measurements:
  - type: K8s
    subtypes:
      - subtype: server
        data: {version: v1.30, platform: linux/amd64, features: [a, b]}
  - type: OS
    subtypes:
      - name: release
        data: {ID: ubuntu, VERSION_ID: 24.04}
      - name: sysctl
        data: {/proc/sys/kernel/osrelease: 6.8.0-1024-aws}
  - type: GPU
    subtypes:
      - {name: smi, data: {gpu-count: 8, driver: 570.86.16}}
  - type: GPU
    subtypes:
      - {name: smi, data: {gpu-count: 8, driver: 580.95.05}}
`

func TestJudge(t *testing.T) {
	t.Parallel()
	s, err := constraint.ParseSnapshot("snapshot.yaml", []byte(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path, value string
		want              check.Verdict
		actual, reason    string
	}{
		{"passed", "K8s.server.version", ">= 1.30", check.Passed, "v1.30", ""},
		{"failed", "K8s.server.version", ">= 1.32.4", check.Failed, "v1.30", "v1.30 is not >= 1.32.4"},
		{"a number stays as it was written", "OS.release.VERSION_ID", "24.04", check.Passed, "24.04", ""},
		{"a key with slashes", "OS.sysctl./proc/sys/kernel/osrelease", ">= 6.8", check.Passed, "6.8.0-1024-aws", ""},
		{"measured twice alike", "GPU.smi.gpu-count", "== 8", check.Passed, "8", ""},
		{"measured twice, differently", "GPU.smi.driver", ">= 560", check.Unobserved, "", "2 values of GPU.smi.driver: 570.86.16, 580.95.05"},
		{"no such key", "K8s.server.vershun", ">= 1.30", check.Unobserved, "", "(but K8s.server.version)"},
		{"no such subtype", "K8s.node.version", ">= 1.30", check.Unobserved, "", "of K8s it has server"},
		{"no such type", "SystemD.containerd.active", "true", check.Unobserved, "", "(no measurement of type SystemD)"},
		{"a list is not a scalar", "K8s.server.features", "a", check.Unobserved, "", "no K8s.server.features"},
		{"no path", "nccl-all-reduce-bw", ">= 300", check.Unobserved, "", "must be Type.Subtype.Key, for example K8s.server.version"},
		{"no version", "OS.release.ID", ">= 22", check.Unobserved, "ubuntu", "is not a version, so"},
		{"no expression", "OS.release.ID", ">=", check.Unobserved, "", "has no operand"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := constraint.Judge(model.Constraint{Name: tt.path, Value: tt.value, Remediation: "upgrade"}, s)
			if r.Verdict != tt.want || r.Actual != tt.actual || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("got %+v", r)
			}
			if (r.Remediation == "") != (tt.want == check.Passed) {
				t.Errorf("remediation %q for %s", r.Remediation, r.Verdict)
			}
		})
	}
}

func TestJudgeAll(t *testing.T) {
	t.Parallel()
	s, err := constraint.ParseSnapshot("snapshot.yaml", []byte(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	c := func(name, value, severity string) model.Constraint {
		return model.Constraint{Name: name, Value: value, Severity: severity}
	}
	pass, fail, unseen := c("OS.release.ID", "ubuntu", ""), c("OS.release.ID", "rhel", "error"), c("OS.x.y", "z", "")
	tests := []struct {
		name        string
		constraints []model.Constraint
		want        check.Verdict
		reason      string
	}{
		{"none", nil, check.Unobserved, "no constraints"},
		{"all hold", []model.Constraint{pass, pass}, check.Passed, "2 constraints hold"},
		{"one fails", []model.Constraint{pass, unseen, fail}, check.Failed, "1 of 3 constraints do not hold"},
		{"one unseen", []model.Constraint{pass, unseen}, check.Unobserved, "1 of 2 constraints are unobserved"},
		{"a warning decides nothing", []model.Constraint{pass, c("OS.release.ID", "rhel", "warning")}, check.Passed, "1 constraints hold"},
		{"only a warning", []model.Constraint{c("OS.release.ID", "ubuntu", "warning")}, check.Unobserved, "no constraints"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := constraint.JudgeAll(tt.constraints, s)
			if r.Verdict != tt.want || r.Reason != tt.reason || len(r.Results) != len(tt.constraints) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestWhatIsNoSnapshot(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "kind: RecipeResult\napiVersion: aicr.run/v1beta1", "[]", "kind: Snapshot\napiVersion: aicr.run/v1beta1\nmeasurements: {}",
		"kind: Snapshot\napiVersion: aicr.run/v1beta1\nmeasurements: [{subtypes: []}]",
	} {
		s, err := constraint.ParseSnapshot("s.yaml", []byte(text))
		if _, ok := errors.AsType[diag.List](err); !ok || s != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{">= 1.32", "a || b", "!label", ">= 1 < 2", "== v1.2-gke.3", "≥ 1"} {
		f.Add(seed, "1.32.4")
	}
	f.Fuzz(func(t *testing.T, text, actual string) {
		e, err := constraint.Parse(text)
		if err != nil {
			return
		}
		again, err := constraint.Parse(" " + text + " ")
		if err != nil {
			t.Fatalf("%q is valid, but not with spaces around it: %v", text, err)
		}
		a, errA := e.Holds(actual)
		b, errB := again.Holds(actual)
		if a != b || (errA == nil) != (errB == nil) {
			t.Errorf("%q on %q: %v and %v", text, actual, a, b)
		}
	})
}

func FuzzVersion(f *testing.F) {
	f.Add("1.32", "1.32.4", "v1.33.5-eks-1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		x, okX := constraint.ParseVersion(a)
		y, okY := constraint.ParseVersion(b)
		z, okZ := constraint.ParseVersion(c)
		if !okX || !okY || !okZ {
			return
		}
		if x.Compare(y) != -y.Compare(x) {
			t.Errorf("%s and %s: %d, the other way %d", a, b, x.Compare(y), y.Compare(x))
		}
		if len(x.Parts) == len(y.Parts) && len(y.Parts) == len(z.Parts) && x.Compare(y) <= 0 && y.Compare(z) <= 0 && x.Compare(z) > 0 {
			t.Errorf("%s <= %s <= %s, but not %s <= %s", a, b, c, a, c)
		}
	})
}
