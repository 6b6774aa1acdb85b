package attest

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

// The figures of a group of nodes are in an input of the run. Regression: with --site and --profile only
// profile.yaml was compared, and the report said that the profile matches.
func TestProfilesOfGroupsAreExpected(t *testing.T) {
	t.Parallel()
	clock := evidencetest.Clock()
	start := evidencetest.Start(evidencetest.Plan())
	start.Inputs = map[string][]byte{"profile-b.yaml": []byte("minFraction: 0.92\n")}
	r, err := evidence.Create(t.TempDir(), start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	w := plan.Executor{Plan: evidencetest.Plan(), Store: r, Clock: clock}
	out, err := w.Run(t.Context())
	if err == nil {
		err = r.Finish(out, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	given := func(text string) map[string][]byte { return map[string][]byte{"profile-b.yaml": []byte(text)} }
	for name, tt := range map[string]struct {
		expected Expected
		outcome  Outcome
		says     string
	}{
		"the same":          {Expected{Site: start.Site, Profile: start.Profile, Profiles: given("minFraction: 0.92\n")}, OK, "as given: site, profile, profile of group b"},
		"another":           {Expected{Site: start.Site, Profile: start.Profile, Profiles: given("minFraction: 0.01\n")}, Wrong, "inputs/profile-b.yaml: differs from the given file"},
		"a group more":      {Expected{Site: start.Site, Profiles: map[string][]byte{"profile-c.yaml": []byte("x")}}, Wrong, "inputs/profile-c.yaml: differs"},
		"not readable":      {Expected{Site: start.Site, Unread: "no such file"}, NotChecked, "no such file"},
		"the cluster alone": {Expected{Cluster: evidencetest.Cluster}, OK, "as given: cluster"},
	} {
		v, err := Verify(t.Context(), r.Dir(), Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor, Expected: tt.expected})
		if err != nil {
			t.Fatal(err)
		}
		says := slices.ContainsFunc(v.Checks, func(c Checked) bool { return c.Check == CheckExpected && strings.Contains(c.Detail, tt.says) })
		if v.Outcome() != tt.outcome || !says && !strings.Contains(v.String(), tt.says) {
			t.Errorf("%s: %s: %s: %+v", name, v.Outcome(), v, v.Checks)
		}
	}
}
